CREATE TABLE memory_contexts (
  generation {{int64}} NOT NULL,
  id         {{text}} NOT NULL,
  context_id {{text}} NOT NULL,
  own        {{blob}} NOT NULL,
  PRIMARY KEY (generation, id),
  FOREIGN KEY (generation, id) REFERENCES documents (generation, id) ON DELETE CASCADE
){{strict}};

CREATE INDEX memory_contexts_by_context ON memory_contexts (generation, context_id, id);

CREATE INDEX documents_in_order ON documents (generation, container, created_at, id) WHERE container IS NOT NULL;
