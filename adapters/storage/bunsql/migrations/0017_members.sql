CREATE TABLE members (
  org        {{text}} NOT NULL,
  id         {{text}} NOT NULL PRIMARY KEY,
  email      {{text}} NOT NULL,
  role       {{text}} NOT NULL,
  password   {{text}} NOT NULL,
  invited_by {{text}} NOT NULL,
  created_at {{int64}} NOT NULL,
  joined_at  {{int64}} NOT NULL
){{keyed}};

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
