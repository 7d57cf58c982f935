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
