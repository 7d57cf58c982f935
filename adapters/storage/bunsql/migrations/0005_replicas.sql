ALTER TABLE namespaces ADD COLUMN trimmed {{int64}} NOT NULL DEFAULT 0;

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

CREATE TABLE reindexings (
  org         {{text}} NOT NULL REFERENCES organizations (id),
  space       {{text}} NOT NULL,
  integration {{text}} NOT NULL,
  name        {{text}} NOT NULL,
  status      {{text}} NOT NULL,
  force       {{int64}} NOT NULL,
  done        {{int64}} NOT NULL,
  total       {{int64}} NOT NULL,
  documents   {{int64}} NOT NULL,
  chunks      {{int64}} NOT NULL,
  code        {{text}} NOT NULL,
  message     {{text}} NOT NULL,
  updated_at  {{int64}} NOT NULL,
  ended       {{int64}} NOT NULL,
  claim       {{text}} NOT NULL,
  PRIMARY KEY (org, space, integration, name)
){{strict}};

CREATE INDEX reindexings_underway ON reindexings (updated_at) WHERE ended = 0;

CREATE INDEX reindexings_ended ON reindexings (updated_at) WHERE ended <> 0;

CREATE TABLE buckets (
  name    {{text}} NOT NULL PRIMARY KEY,
  tokens  {{int64}} NOT NULL,
  at      {{int64}} NOT NULL,
  full_at {{int64}} NOT NULL
){{strict}};

CREATE INDEX buckets_by_full ON buckets (full_at);
