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
