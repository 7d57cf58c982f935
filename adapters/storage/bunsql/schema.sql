-- What the steps of migrations/ make together; written by
-- go test ./adapters/storage/sqlite -run TestSchemaIsWhatTheStepsMake -update
CREATE TABLE schema_migrations (version {{int64}} NOT NULL PRIMARY KEY, name {{text}} NOT NULL, checksum {{text}} NOT NULL, applied_at {{int64}} NOT NULL){{strict}};

CREATE TABLE organizations (
  id         {{text}} NOT NULL PRIMARY KEY,
  name       {{text}} NOT NULL UNIQUE,
  suspended  {{int64}} NOT NULL,
  created_at {{int64}} NOT NULL
, deleting_at {{int64}} NOT NULL DEFAULT 0, standing {{int64}} NOT NULL DEFAULT 0, move {{int64}} NOT NULL DEFAULT 0){{strict}};

CREATE TABLE api_keys (
  id                {{text}} NOT NULL PRIMARY KEY,
  org               {{text}} NOT NULL REFERENCES organizations (id),
  name              {{text}} NOT NULL,
  kind              {{text}} NOT NULL,
  hash              {{blob}} NOT NULL UNIQUE,
  last4             {{text}} NOT NULL,
  read_only         {{int64}} NOT NULL,
  namespace         {{text}} NOT NULL,
  default_namespace {{text}} NOT NULL,
  scopes            {{text}} NOT NULL,
  limits            {{text}} NOT NULL,
  created_at        {{int64}} NOT NULL,
  expires_at        {{int64}} NOT NULL,
  revoked_at        {{int64}} NOT NULL,
  last_used_at      {{int64}} NOT NULL
, integration {{text}} NOT NULL DEFAULT '', end_user {{text}} NOT NULL DEFAULT '', created_by {{text}} NOT NULL DEFAULT '', source {{text}} NOT NULL DEFAULT ''){{strict}};

CREATE INDEX api_keys_by_org ON api_keys (org, created_at, id);

CREATE TABLE namespaces (
  generation       {{identity}},
  org              {{text}} NOT NULL REFERENCES organizations (id),
  name             {{text}} NOT NULL,
  dropped          {{int64}} NOT NULL,
  sparse           {{int64}} NOT NULL,
  embedding_model  {{text}} NOT NULL,
  embedding_digest {{text}} NOT NULL,
  dimensions       {{int64}} NOT NULL,
  sparse_model     {{text}} NOT NULL,
  sparse_digest    {{text}} NOT NULL,
  chunker          {{text}} NOT NULL,
  documents        {{int64}} NOT NULL,
  chunks           {{int64}} NOT NULL,
  bytes            {{int64}} NOT NULL,
  seq              {{int64}} NOT NULL,
  created_at       {{int64}} NOT NULL,
  updated_at       {{int64}} NOT NULL
, space {{text}} NOT NULL DEFAULT 'documents', integration {{text}} NOT NULL DEFAULT '', seen_at {{int64}} NOT NULL DEFAULT 0, erasing_at {{int64}} NOT NULL DEFAULT 0, erased_memories {{int64}} NOT NULL DEFAULT 0, erased_vectors {{int64}} NOT NULL DEFAULT 0, erased_records {{int64}} NOT NULL DEFAULT 0, erased_receipts {{int64}} NOT NULL DEFAULT 0, erased_replays {{int64}} NOT NULL DEFAULT 0, trimmed {{int64}} NOT NULL DEFAULT 0, life {{int64}} NOT NULL DEFAULT 0, paused_until {{int64}} NOT NULL DEFAULT 0, erased_grants {{int64}} NOT NULL DEFAULT 0, erased_unanswered {{int64}} NOT NULL DEFAULT 0, language {{text}} NOT NULL DEFAULT '', embedder {{text}} NOT NULL DEFAULT ''){{strict}};

CREATE INDEX namespaces_dropped ON namespaces (generation) WHERE dropped <> 0;

CREATE TABLE documents (
  generation    {{int64}} NOT NULL REFERENCES namespaces (generation),
  id            {{text}} NOT NULL,
  seq           {{int64}} NOT NULL,
  text_hash     {{blob}} NOT NULL,
  metadata_hash {{blob}} NOT NULL,
  chunk_count   {{int64}} NOT NULL,
  text_bytes    {{int64}} NOT NULL,
  source_id     {{text}} NOT NULL,
  origin_kind   {{text}} NOT NULL,
  origin_key    {{text}} NOT NULL,
  origin_source {{text}} NOT NULL,
  created_at    {{int64}} NOT NULL,
  updated_at    {{int64}} NOT NULL,
  metadata      {{text}} NOT NULL,
  layout        {{blob}} NOT NULL,
  text          {{text}} NOT NULL, container {{text}}, content_key {{blob}}, source {{text}} NOT NULL DEFAULT '', external_id {{text}} NOT NULL DEFAULT '',
  PRIMARY KEY (generation, id)
){{strict}};

CREATE INDEX documents_by_seq ON documents (generation, seq, id);

CREATE INDEX documents_by_updated ON documents (generation, updated_at DESC, id);

CREATE INDEX documents_by_source ON documents (generation, source_id, id) WHERE source_id <> '';

CREATE INDEX documents_by_source_updated ON documents (generation, source_id, updated_at DESC, id) WHERE source_id <> '';

CREATE TABLE vectors (
  generation {{int64}} NOT NULL,
  id         {{text}} NOT NULL,
  dense      {{blob}},
  sparse     {{blob}},
  PRIMARY KEY (generation, id),
  FOREIGN KEY (generation, id) REFERENCES documents (generation, id) ON DELETE CASCADE
){{strict}};

CREATE TABLE tombstones (
  generation {{int64}} NOT NULL REFERENCES namespaces (generation),
  id         {{text}} NOT NULL,
  seq        {{int64}} NOT NULL,
  PRIMARY KEY (generation, id)
){{keyed}};

CREATE INDEX tombstones_by_seq ON tombstones (generation, seq, id);

CREATE TABLE pings (
  id {{int64}} NOT NULL PRIMARY KEY,
  at {{int64}} NOT NULL
){{strict}};

CREATE TABLE secrets (
  name  {{text}} NOT NULL PRIMARY KEY,
  value {{blob}} NOT NULL
){{strict}};

CREATE INDEX namespaces_by_integration ON namespaces (org, integration, name) WHERE space = 'memories' AND dropped = 0;

CREATE INDEX namespaces_erasing ON namespaces (erasing_at, generation) WHERE erasing_at <> 0;

CREATE INDEX documents_by_created ON documents (generation, created_at DESC, id) WHERE container IS NOT NULL;

CREATE INDEX documents_by_container ON documents (generation, container, created_at DESC, id) WHERE container <> '';

CREATE INDEX documents_by_content ON documents (generation, content_key, container, id) WHERE content_key IS NOT NULL;

CREATE TABLE integrations (
  org                   {{text}} NOT NULL REFERENCES organizations (id),
  id                    {{text}} NOT NULL,
  name                  {{text}} NOT NULL,
  memories_per_end_user {{int64}} NOT NULL,
  read_rate_per_min     {{int64}} NOT NULL,
  write_rate_per_min    {{int64}} NOT NULL,
  created_at            {{int64}} NOT NULL, grants_required {{int64}} NOT NULL DEFAULT 0,
  PRIMARY KEY (org, id),
  UNIQUE (org, name)
){{strict}};

CREATE TABLE memory_records (
  generation    {{int64}} NOT NULL REFERENCES namespaces (generation),
  source        {{text}} NOT NULL,
  external_id   {{text}} NOT NULL,
  version       {{int64}} NOT NULL,
  status        {{text}} NOT NULL,
  occurred_at   {{int64}} NOT NULL,
  updated_at    {{int64}} NOT NULL,
  document_id   {{text}} NOT NULL,
  content_hash  {{text}} NOT NULL,
  metadata_hash {{blob}} NOT NULL,
  PRIMARY KEY (generation, source, external_id)
){{keyed}};

CREATE TABLE memory_receipts (
  generation   {{int64}} NOT NULL REFERENCES namespaces (generation),
  source       {{text}} NOT NULL,
  external_id  {{text}} NOT NULL,
  version      {{int64}} NOT NULL,
  operation    {{text}} NOT NULL,
  request_hash {{text}} NOT NULL,
  outcome      {{text}} NOT NULL,
  occurred_at  {{int64}} NOT NULL,
  applied_at   {{int64}} NOT NULL,
  document_id  {{text}} NOT NULL,
  content_hash {{text}} NOT NULL,
  PRIMARY KEY (generation, source, external_id, version)
){{keyed}};

CREATE TABLE replays (
  org             {{text}} NOT NULL REFERENCES organizations (id),
  integration     {{text}} NOT NULL,
  idempotency_key {{text}} NOT NULL,
  end_user        {{text}} NOT NULL,
  request_hash    {{blob}} NOT NULL,
  answer          {{text}} NOT NULL,
  created_at      {{int64}} NOT NULL,
  PRIMARY KEY (org, integration, idempotency_key)
){{strict}};

CREATE INDEX replays_by_end_user ON replays (org, integration, end_user);

CREATE INDEX replays_by_created ON replays (created_at);

CREATE TABLE memory_contexts (
  generation {{int64}} NOT NULL,
  id         {{text}} NOT NULL,
  context_id {{text}} NOT NULL,
  own        {{blob}} NOT NULL,
  PRIMARY KEY (generation, id),
  FOREIGN KEY (generation, id) REFERENCES documents (generation, id) ON DELETE CASCADE
){{strict}};

CREATE INDEX memory_contexts_by_context ON memory_contexts (generation, context_id, id);

CREATE INDEX documents_in_order ON documents (generation, container, created_at, id) WHERE container IS NOT NULL;

CREATE TABLE oauth_clients (
  id         {{text}} NOT NULL PRIMARY KEY,
  metadata   {{text}} NOT NULL,
  created_at {{int64}} NOT NULL,
  used_at    {{int64}} NOT NULL
){{strict}};

CREATE INDEX oauth_clients_unused ON oauth_clients (created_at, id) WHERE used_at = 0;

CREATE INDEX oauth_clients_used ON oauth_clients (used_at) WHERE used_at <> 0;

CREATE TABLE oauth_grants (
  id           {{text}} NOT NULL PRIMARY KEY,
  org          {{text}} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  key_id       {{text}} NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
  client_id    {{text}} NOT NULL,
  client_name  {{text}} NOT NULL,
  scope        {{text}} NOT NULL,
  resource     {{text}} NOT NULL,
  redirect_uri {{text}} NOT NULL,
  challenge    {{text}} NOT NULL,
  code         {{blob}} NOT NULL UNIQUE,
  code_expires {{int64}} NOT NULL,
  redeemed_at  {{int64}} NOT NULL,
  family       {{blob}} UNIQUE,
  refresh      {{blob}},
  created_at   {{int64}} NOT NULL,
  expires_at   {{int64}} NOT NULL
){{strict}};

CREATE INDEX oauth_grants_by_key ON oauth_grants (key_id);

CREATE INDEX oauth_grants_by_client ON oauth_grants (client_id);

CREATE INDEX oauth_grants_by_expiry ON oauth_grants (expires_at);

CREATE TABLE oauth_access_tokens (
  hash       {{blob}} NOT NULL PRIMARY KEY,
  grant_id   {{text}} NOT NULL REFERENCES oauth_grants (id) ON DELETE CASCADE,
  scope      {{text}} NOT NULL,
  expires_at {{int64}} NOT NULL
){{keyed}};

CREATE INDEX oauth_access_tokens_by_grant ON oauth_access_tokens (grant_id);

CREATE INDEX oauth_access_tokens_by_expiry ON oauth_access_tokens (expires_at);

CREATE TABLE replicas (
  id         {{text}} NOT NULL PRIMARY KEY,
  epoch      {{int64}} NOT NULL,
  expires_at {{int64}} NOT NULL
){{strict}};

CREATE TABLE claims (
  name    {{text}} NOT NULL PRIMARY KEY,
  replica {{text}} NOT NULL,
  epoch   {{int64}} NOT NULL,
  fence   {{int64}} NOT NULL
){{strict}};

CREATE INDEX claims_by_replica ON claims (replica, epoch);

CREATE TABLE consumers (
  id         {{text}} NOT NULL PRIMARY KEY,
  expires_at {{int64}} NOT NULL
){{strict}};

CREATE TABLE watermarks (
  generation {{int64}} NOT NULL REFERENCES namespaces (generation) ON DELETE CASCADE,
  consumer   {{text}} NOT NULL REFERENCES consumers (id) ON DELETE CASCADE,
  seq        {{int64}} NOT NULL,
  PRIMARY KEY (generation, consumer)
){{keyed}};

CREATE INDEX watermarks_by_consumer ON watermarks (consumer);

CREATE TABLE erasure_acks (
  generation {{int64}} NOT NULL REFERENCES namespaces (generation) ON DELETE CASCADE,
  replica    {{text}} NOT NULL,
  epoch      {{int64}} NOT NULL,
  PRIMARY KEY (generation, replica)
){{keyed}};

CREATE TABLE buckets (
  name    {{text}} NOT NULL PRIMARY KEY,
  tokens  {{int64}} NOT NULL,
  at      {{int64}} NOT NULL,
  full_at {{int64}} NOT NULL
){{strict}};

CREATE INDEX buckets_by_full ON buckets (full_at);

CREATE UNIQUE INDEX namespaces_by_name ON namespaces (org, space, name, integration, life) WHERE dropped = 0;

CREATE INDEX namespaces_shadows ON namespaces (generation) WHERE life <> 0 AND dropped = 0;

CREATE TABLE jobs (
  org         {{text}} NOT NULL REFERENCES organizations (id),
  id          {{text}} NOT NULL,
  kind        {{text}} NOT NULL,
  space       {{text}} NOT NULL,
  integration {{text}} NOT NULL,
  name        {{text}} NOT NULL,
  generation  {{int64}} NOT NULL,
  status      {{text}} NOT NULL,
  done        {{int64}} NOT NULL,
  total       {{int64}} NOT NULL,
  tries       {{int64}} NOT NULL,
  next_at     {{int64}} NOT NULL,
  cancel      {{int64}} NOT NULL,
  request     {{blob}},
  principal   {{blob}},
  state       {{text}},
  result      {{text}},
  error       {{text}},
  created_at  {{int64}} NOT NULL,
  started_at  {{int64}} NOT NULL,
  updated_at  {{int64}} NOT NULL,
  finished_at {{int64}} NOT NULL,
  expires_at  {{int64}} NOT NULL,
  PRIMARY KEY (org, id)
){{strict}};

CREATE INDEX jobs_by_id ON jobs (id);

CREATE INDEX jobs_by_created ON jobs (created_at, id, org);

CREATE INDEX jobs_by_partition ON jobs (org, space, name, integration, created_at);

CREATE INDEX jobs_unfinished ON jobs (next_at, created_at, id, org) WHERE finished_at = 0;

CREATE INDEX jobs_cancelled ON jobs (org, id) WHERE cancel <> 0 AND finished_at = 0;

CREATE INDEX jobs_ended ON jobs (expires_at) WHERE finished_at <> 0;

CREATE TABLE data_keys (
  org        {{text}} NOT NULL PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
  id         {{text}} NOT NULL,
  wrapped    {{blob}} NOT NULL,
  wrapped_by {{text}} NOT NULL,
  created_at {{int64}} NOT NULL
){{keyed}};

CREATE TABLE sources (
  org         {{text}} NOT NULL REFERENCES organizations (id),
  id          {{text}} NOT NULL PRIMARY KEY,
  name        {{text}} NOT NULL,
  kind        {{text}} NOT NULL,
  namespace   {{text}} NOT NULL,
  config      {{text}} NOT NULL,
  secrets     {{text}} NOT NULL,
  schedule    {{text}} NOT NULL,
  keep        {{int64}} NOT NULL,
  enabled     {{int64}} NOT NULL,
  state       {{text}} NOT NULL,
  reason      {{text}},
  failures    {{int64}} NOT NULL,
  cursor      {{blob}},
  items       {{int64}} NOT NULL,
  numbers     {{int64}} NOT NULL,
  documents   {{int64}} NOT NULL,
  run         {{text}} NOT NULL,
  last_run    {{text}} NOT NULL,
  next_run_at {{int64}} NOT NULL,
  retry_at    {{int64}} NOT NULL,
  due_at      {{int64}} NOT NULL,
  created_at  {{int64}} NOT NULL,
  updated_at  {{int64}} NOT NULL
){{strict}};

CREATE INDEX sources_by_org ON sources (org, id);

CREATE INDEX sources_by_state ON sources (state, id);

CREATE INDEX sources_due ON sources (due_at, id) WHERE enabled <> 0 AND due_at <> 0 AND run = '';

CREATE TABLE source_secrets (
  source {{text}} NOT NULL REFERENCES sources (id),
  name   {{text}} NOT NULL,
  sealed {{blob}} NOT NULL,
  PRIMARY KEY (source, name)
){{keyed}};

CREATE TABLE source_items (
  source       {{text}} NOT NULL REFERENCES sources (id),
  number       {{int64}} NOT NULL,
  key_hash     {{blob}} NOT NULL,
  item_key     {{text}} NOT NULL,
  version      {{text}} NOT NULL,
  name         {{text}} NOT NULL,
  url          {{text}} NOT NULL,
  content_hash {{blob}} NOT NULL,
  documents    {{int64}} NOT NULL,
  generation   {{int64}} NOT NULL,
  error        {{text}},
  attempts     {{int64}} NOT NULL,
  next_at      {{int64}} NOT NULL,
  updated_at   {{int64}} NOT NULL,
  PRIMARY KEY (source, number)
){{keyed}};

CREATE UNIQUE INDEX source_items_by_key ON source_items (source, key_hash);

CREATE INDEX source_items_failed ON source_items (source, number) WHERE error IS NOT NULL;

CREATE TABLE source_runs (
  source       {{text}} NOT NULL REFERENCES sources (id),
  id           {{text}} NOT NULL PRIMARY KEY,
  run_trigger  {{text}} NOT NULL,
  mode         {{text}} NOT NULL,
  status       {{text}} NOT NULL,
  params       {{text}},
  counts       {{text}} NOT NULL,
  error        {{text}},
  cursor       {{blob}},
  seen         {{blob}},
  problems     {{int64}} NOT NULL,
  recorded     {{int64}} NOT NULL,
  created_at   {{int64}} NOT NULL,
  started_at   {{int64}} NOT NULL,
  heartbeat_at {{int64}} NOT NULL,
  progress_at  {{int64}} NOT NULL,
  finished_at  {{int64}} NOT NULL
){{strict}};

CREATE INDEX source_runs_by_created ON source_runs (source, created_at, id);

CREATE TABLE source_run_items (
  run      {{text}} NOT NULL REFERENCES source_runs (id),
  place    {{int64}} NOT NULL,
  item_key {{text}} NOT NULL,
  status   {{text}} NOT NULL,
  error    {{text}},
  document {{text}} NOT NULL,
  PRIMARY KEY (run, place)
){{keyed}};

CREATE INDEX source_run_items_by_status ON source_run_items (run, status, place);

CREATE TABLE events (
  position   {{identity}},
  id         {{text}} NOT NULL,
  org        {{text}} NOT NULL,
  seq        {{int64}},
  kind       {{text}} NOT NULL,
  entity     {{text}} NOT NULL,
  namespace  {{text}} NOT NULL,
  subject    {{text}},
  body       {{blob}} NOT NULL,
  created_at {{int64}} NOT NULL
){{strict}};

CREATE UNIQUE INDEX events_by_id ON events (id);

CREATE UNIQUE INDEX events_by_seq ON events (org, seq);

CREATE INDEX events_unnumbered ON events (position) WHERE seq IS NULL;

CREATE INDEX events_by_subject ON events (org, subject) WHERE subject IS NOT NULL;

CREATE TABLE event_streams (
  org     {{text}} NOT NULL PRIMARY KEY,
  seq     {{int64}} NOT NULL,
  trimmed {{int64}} NOT NULL
){{keyed}};

CREATE TABLE event_readers (
  org     {{text}} NOT NULL PRIMARY KEY,
  read_at {{int64}} NOT NULL
){{keyed}};

CREATE TABLE grants (
  org         {{text}} NOT NULL REFERENCES organizations (id),
  id          {{text}} NOT NULL,
  integration {{text}} NOT NULL,
  end_user    {{text}} NOT NULL,
  source      {{text}} NOT NULL,
  secrets     {{text}} NOT NULL,
  sealed      {{blob}},
  created_at  {{int64}} NOT NULL,
  revoked_at  {{int64}} NOT NULL,
  upstream    {{text}} NOT NULL,
  PRIMARY KEY (org, id)
){{strict}};

CREATE INDEX grants_by_end_user ON grants (org, integration, end_user, created_at, id) WHERE end_user <> '';

CREATE TABLE audit_waiting (
  id     {{text}} NOT NULL PRIMARY KEY,
  record {{text}} NOT NULL
){{keyed}};

CREATE TABLE audit (
  seq        {{int64}} NOT NULL PRIMARY KEY,
  id         {{text}} NOT NULL,
  at         {{int64}} NOT NULL,
  org        {{text}} NOT NULL,
  actor      {{text}} NOT NULL,
  key_id     {{text}} NOT NULL,
  action     {{text}} NOT NULL,
  target     {{text}} NOT NULL,
  request_id {{text}} NOT NULL,
  status     {{int64}} NOT NULL,
  fields     {{text}} NOT NULL,
  previous   {{blob}} NOT NULL,
  hash       {{blob}} NOT NULL
){{strict}};

CREATE INDEX audit_by_org ON audit (org, seq);

CREATE TABLE audit_head (
  id           {{int64}} NOT NULL PRIMARY KEY,
  seq          {{int64}} NOT NULL,
  hash         {{blob}} NOT NULL,
  trimmed      {{int64}} NOT NULL,
  trimmed_hash {{blob}} NOT NULL
){{strict}};

CREATE TABLE sessions (
  hash       {{blob}} NOT NULL PRIMARY KEY,
  org        {{text}} NOT NULL,
  key_id     {{text}} NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
  created_at {{int64}} NOT NULL,
  seen_at    {{int64}} NOT NULL,
  expires_at {{int64}} NOT NULL,
  user_agent {{text}} NOT NULL
){{keyed}};

CREATE INDEX sessions_by_key ON sessions (key_id);

CREATE INDEX sessions_by_expiry ON sessions (expires_at);

CREATE INDEX sessions_by_use ON sessions (seen_at);

CREATE TABLE sign_in_links (
  hash       {{blob}} NOT NULL PRIMARY KEY,
  org        {{text}} NOT NULL,
  key_id     {{text}} NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
  expires_at {{int64}} NOT NULL
){{keyed}};

CREATE INDEX sign_in_links_by_key ON sign_in_links (key_id);

CREATE INDEX sign_in_links_by_expiry ON sign_in_links (expires_at);

CREATE TABLE usage_hours (
  hour            {{int64}} NOT NULL,
  org             {{text}} NOT NULL,
  namespace       {{text}} NOT NULL,
  integration     {{text}} NOT NULL,
  key_id          {{text}} NOT NULL,
  requests        {{int64}} NOT NULL,
  documents       {{int64}} NOT NULL,
  chunks          {{int64}} NOT NULL,
  tokens_embedded {{int64}} NOT NULL,
  tokens_sparse   {{int64}} NOT NULL,
  pairs_reranked  {{int64}} NOT NULL,
  recalls         {{int64}} NOT NULL,
  PRIMARY KEY (hour, org, namespace, integration, key_id)
){{keyed}};

CREATE INDEX usage_hours_by_org ON usage_hours (org, hour);

CREATE TABLE usage_bytes (
  org         {{text}} NOT NULL,
  namespace   {{text}} NOT NULL,
  integration {{text}} NOT NULL,
  hour        {{int64}} NOT NULL,
  bytes       {{int64}} NOT NULL,
  read_at     {{int64}} NOT NULL,
  PRIMARY KEY (org, namespace, integration, hour)
){{keyed}};

CREATE TABLE quotas (
  org         {{text}} NOT NULL,
  name        {{text}} NOT NULL,
  bound       {{int64}} NOT NULL,
  exceeded_at {{int64}} NOT NULL,
  PRIMARY KEY (org, name)
){{keyed}};

CREATE TABLE webhooks (
  org            {{text}} NOT NULL,
  id             {{text}} NOT NULL,
  url            {{text}} NOT NULL,
  kinds          {{text}} NOT NULL,
  admin          {{int64}} NOT NULL,
  description    {{text}} NOT NULL,
  scheme         {{text}} NOT NULL,
  enabled        {{int64}} NOT NULL,
  reason         {{text}} NOT NULL,
  failing_since  {{int64}} NOT NULL,
  failing_events {{int64}} NOT NULL,
  failing_event  {{text}} NOT NULL,
  failing_at     {{int64}} NOT NULL,
  created_at     {{int64}} NOT NULL,
  updated_at     {{int64}} NOT NULL,
  PRIMARY KEY (org, id)
){{keyed}};

CREATE UNIQUE INDEX webhooks_by_id ON webhooks (id);

CREATE TABLE webhook_secrets (
  org        {{text}} NOT NULL,
  webhook    {{text}} NOT NULL,
  id         {{text}} NOT NULL,
  sealed     {{blob}} NOT NULL,
  public     {{text}} NOT NULL,
  created_at {{int64}} NOT NULL,
  expires_at {{int64}} NOT NULL,
  PRIMARY KEY (org, webhook, id)
){{keyed}};

CREATE TABLE deliveries (
  position      {{identity}},
  id            {{text}} NOT NULL,
  org           {{text}} NOT NULL,
  webhook       {{text}} NOT NULL,
  event         {{text}} NOT NULL,
  seq           {{int64}} NOT NULL,
  kind          {{text}} NOT NULL,
  entity        {{text}} NOT NULL,
  status        {{text}} NOT NULL,
  attempts      {{text}} NOT NULL,
  tries         {{int64}} NOT NULL,
  next_at       {{int64}},
  redelivery_of {{text}} NOT NULL,
  created_at    {{int64}} NOT NULL,
  updated_at    {{int64}} NOT NULL
){{strict}};

CREATE UNIQUE INDEX deliveries_by_id ON deliveries (id);

CREATE INDEX deliveries_by_webhook ON deliveries (webhook, position);

CREATE INDEX deliveries_by_status ON deliveries (webhook, status, position);

CREATE INDEX deliveries_by_event ON deliveries (event, webhook);

CREATE INDEX deliveries_by_org ON deliveries (org);

CREATE INDEX deliveries_by_lane ON deliveries (webhook, entity, seq, position) WHERE status = 'pending';

CREATE INDEX deliveries_due ON deliveries (webhook, next_at, position) WHERE next_at IS NOT NULL;

CREATE INDEX deliveries_by_time ON deliveries (next_at) WHERE next_at IS NOT NULL;

CREATE TABLE members (
  org        {{text}} NOT NULL,
  id         {{text}} NOT NULL PRIMARY KEY,
  email      {{text}} NOT NULL,
  role       {{text}} NOT NULL,
  password   {{text}} NOT NULL,
  invited_by {{text}} NOT NULL,
  created_at {{int64}} NOT NULL,
  joined_at  {{int64}} NOT NULL
, issuer {{text}} NOT NULL DEFAULT '', subject {{text}} NOT NULL DEFAULT '', disabled_at {{int64}} NOT NULL DEFAULT 0){{keyed}};

CREATE UNIQUE INDEX members_by_email ON members (org, email);

CREATE TABLE invitations (
  hash       {{blob}} NOT NULL PRIMARY KEY,
  member     {{text}} NOT NULL REFERENCES members (id) ON DELETE CASCADE,
  expires_at {{int64}} NOT NULL
){{keyed}};

CREATE UNIQUE INDEX invitations_by_member ON invitations (member);

CREATE INDEX invitations_by_expiry ON invitations (expires_at);

CREATE TABLE member_sessions (
  hash       {{blob}} NOT NULL PRIMARY KEY,
  member     {{text}} NOT NULL REFERENCES members (id) ON DELETE CASCADE,
  created_at {{int64}} NOT NULL,
  seen_at    {{int64}} NOT NULL,
  expires_at {{int64}} NOT NULL,
  user_agent {{text}} NOT NULL
){{keyed}};

CREATE INDEX member_sessions_by_member ON member_sessions (member);

CREATE INDEX member_sessions_by_expiry ON member_sessions (expires_at);

CREATE INDEX member_sessions_by_use ON member_sessions (seen_at);

CREATE UNIQUE INDEX members_by_identity ON members (issuer, subject, org) WHERE subject <> '';

CREATE INDEX members_by_address ON members (email);

CREATE TABLE saved_queries (
  org        {{text}} NOT NULL,
  namespace  {{text}} NOT NULL,
  name       {{text}} NOT NULL,
  body       {{text}} NOT NULL,
  created_at {{int64}} NOT NULL,
  updated_at {{int64}} NOT NULL,
  PRIMARY KEY (org, namespace, name)
){{keyed}};

CREATE TABLE vector_stores (
  org        {{text}} NOT NULL,
  id         {{text}} NOT NULL,
  name       {{text}} NOT NULL,
  metadata   {{text}} NOT NULL,
  created_at {{int64}} NOT NULL,
  PRIMARY KEY (org, id)
){{keyed}};

CREATE TABLE kept_files (
  org        {{text}} NOT NULL,
  id         {{text}} NOT NULL,
  namespace  {{text}} NOT NULL,
  name       {{text}} NOT NULL,
  purpose    {{text}} NOT NULL,
  media_type {{text}} NOT NULL,
  size       {{int64}} NOT NULL,
  text_bytes {{int64}} NOT NULL,
  parts      {{int64}} NOT NULL,
  created_at {{int64}} NOT NULL,
  PRIMARY KEY (org, id)
){{keyed}};

CREATE TABLE kept_parts (
  org        {{text}} NOT NULL,
  file       {{text}} NOT NULL,
  number     {{int64}} NOT NULL,
  metadata   {{text}} NOT NULL,
  text       {{text}} NOT NULL,
  PRIMARY KEY (org, file, number)
){{strict}};

CREATE TABLE attachments (
  org        {{text}} NOT NULL,
  namespace  {{text}} NOT NULL,
  file       {{text}} NOT NULL,
  batch      {{text}} NOT NULL,
  operation  {{text}} NOT NULL,
  created_at {{int64}} NOT NULL,
  PRIMARY KEY (org, namespace, file)
){{keyed}};

CREATE INDEX attachments_by_file ON attachments (org, file, namespace);

CREATE INDEX attachments_by_batch ON attachments (org, namespace, batch, file) WHERE batch <> '';

CREATE TABLE databases (
  name         {{text}} NOT NULL PRIMARY KEY,
  number       {{int64}} NOT NULL UNIQUE,
  installation {{text}} NOT NULL
){{strict}};

CREATE TABLE placements (
  org  {{text}} NOT NULL PRIMARY KEY,
  name {{text}} NOT NULL
){{strict}};

CREATE INDEX placements_by_name ON placements (name);

CREATE TABLE audit_taken (
  id   {{text}} NOT NULL PRIMARY KEY,
  name {{text}} NOT NULL
){{strict}};

CREATE INDEX organizations_unsettled ON organizations (id) WHERE standing <> 0;

CREATE TABLE moves (
  org        {{text}} NOT NULL PRIMARY KEY,
  number     {{int64}} NOT NULL UNIQUE,
  origin     {{text}} NOT NULL,
  target     {{text}} NOT NULL,
  expires_at {{int64}} NOT NULL,
  ended      {{int64}} NOT NULL
){{strict}};

CREATE INDEX oauth_grants_by_org ON oauth_grants (org, id);

CREATE INDEX sessions_by_org ON sessions (org, hash);

CREATE INDEX sign_in_links_by_org ON sign_in_links (org, hash);
