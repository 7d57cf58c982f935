-- The name of the embedding model that was chosen for a namespace; '': the server's default.
ALTER TABLE namespaces ADD COLUMN embedder {{text}} NOT NULL DEFAULT '';
