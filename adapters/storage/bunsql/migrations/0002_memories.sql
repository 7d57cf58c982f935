ALTER TABLE namespaces ADD COLUMN space {{text}} NOT NULL DEFAULT 'documents';

ALTER TABLE namespaces ADD COLUMN integration {{text}} NOT NULL DEFAULT '';

ALTER TABLE namespaces ADD COLUMN seen_at {{int64}} NOT NULL DEFAULT 0;

ALTER TABLE namespaces ADD COLUMN erasing_at {{int64}} NOT NULL DEFAULT 0;

ALTER TABLE namespaces ADD COLUMN erased_memories {{int64}} NOT NULL DEFAULT 0;

ALTER TABLE namespaces ADD COLUMN erased_vectors {{int64}} NOT NULL DEFAULT 0;

ALTER TABLE namespaces ADD COLUMN erased_records {{int64}} NOT NULL DEFAULT 0;

ALTER TABLE namespaces ADD COLUMN erased_receipts {{int64}} NOT NULL DEFAULT 0;

ALTER TABLE namespaces ADD COLUMN erased_replays {{int64}} NOT NULL DEFAULT 0;

DROP INDEX namespaces_by_name;

CREATE UNIQUE INDEX namespaces_by_name ON namespaces (org, space, name, integration) WHERE dropped = 0;

CREATE INDEX namespaces_by_integration ON namespaces (org, integration, name) WHERE space = 'memories' AND dropped = 0;

CREATE INDEX namespaces_erasing ON namespaces (erasing_at, generation) WHERE erasing_at <> 0;

ALTER TABLE documents ADD COLUMN container {{text}};

ALTER TABLE documents ADD COLUMN content_key {{blob}};

ALTER TABLE documents ADD COLUMN source {{text}} NOT NULL DEFAULT '';

ALTER TABLE documents ADD COLUMN external_id {{text}} NOT NULL DEFAULT '';

CREATE INDEX documents_by_created ON documents (generation, created_at DESC, id) WHERE container IS NOT NULL;

CREATE INDEX documents_by_container ON documents (generation, container, created_at DESC, id) WHERE container <> '';

CREATE INDEX documents_by_content ON documents (generation, content_key, container, id) WHERE content_key IS NOT NULL;

ALTER TABLE api_keys ADD COLUMN integration {{text}} NOT NULL DEFAULT '';

ALTER TABLE api_keys ADD COLUMN end_user {{text}} NOT NULL DEFAULT '';

CREATE TABLE integrations (
  org                   {{text}} NOT NULL REFERENCES organizations (id),
  id                    {{text}} NOT NULL,
  name                  {{text}} NOT NULL,
  memories_per_end_user {{int64}} NOT NULL,
  read_rate_per_min     {{int64}} NOT NULL,
  write_rate_per_min    {{int64}} NOT NULL,
  created_at            {{int64}} NOT NULL,
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
