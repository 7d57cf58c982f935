CREATE TABLE saved_queries (
  org        {{text}} NOT NULL,
  namespace  {{text}} NOT NULL,
  name       {{text}} NOT NULL,
  body       {{text}} NOT NULL,
  created_at {{int64}} NOT NULL,
  updated_at {{int64}} NOT NULL,
  PRIMARY KEY (org, namespace, name)
){{keyed}};
