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
