CREATE TABLE data_keys (
  org        {{text}} NOT NULL PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
  id         {{text}} NOT NULL,
  wrapped    {{blob}} NOT NULL,
  wrapped_by {{text}} NOT NULL,
  created_at {{int64}} NOT NULL
){{keyed}};
