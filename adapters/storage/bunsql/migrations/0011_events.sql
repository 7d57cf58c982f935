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
