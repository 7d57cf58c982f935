CREATE TABLE organizations (
  id         {{text}} NOT NULL PRIMARY KEY,
  name       {{text}} NOT NULL UNIQUE,
  suspended  {{int64}} NOT NULL,
  created_at {{int64}} NOT NULL
){{strict}};

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
){{strict}};

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
){{strict}};

CREATE UNIQUE INDEX namespaces_by_name ON namespaces (org, name) WHERE dropped = 0;

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
  text          {{text}} NOT NULL,
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

CREATE TABLE operations (
  org         {{text}} NOT NULL REFERENCES organizations (id),
  id          {{text}} NOT NULL,
  namespace   {{text}} NOT NULL,
  status      {{text}} NOT NULL,
  done        {{int64}} NOT NULL,
  total       {{int64}} NOT NULL,
  request     {{blob}},
  principal   {{blob}},
  result      {{text}},
  error       {{text}},
  created_at  {{int64}} NOT NULL,
  finished_at {{int64}} NOT NULL,
  PRIMARY KEY (org, id)
){{strict}};

CREATE INDEX operations_unfinished ON operations (created_at, id) WHERE finished_at = 0;

CREATE INDEX operations_finished ON operations (finished_at) WHERE finished_at <> 0;

CREATE TABLE pings (
  id {{int64}} NOT NULL PRIMARY KEY,
  at {{int64}} NOT NULL
){{strict}};

CREATE TABLE secrets (
  name  {{text}} NOT NULL PRIMARY KEY,
  value {{blob}} NOT NULL
){{strict}};
