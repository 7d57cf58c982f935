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
