-- The language of a partition's texts, for keyword search; '': each text tells its own.
ALTER TABLE namespaces ADD COLUMN language {{text}} NOT NULL DEFAULT '';
