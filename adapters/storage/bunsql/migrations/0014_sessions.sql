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
