ALTER TABLE namespaces ADD COLUMN life {{int64}} NOT NULL DEFAULT 0;

ALTER TABLE namespaces ADD COLUMN paused_until {{int64}} NOT NULL DEFAULT 0;

DROP INDEX namespaces_by_name;

CREATE UNIQUE INDEX namespaces_by_name ON namespaces (org, space, name, integration, life) WHERE dropped = 0;

CREATE INDEX namespaces_shadows ON namespaces (generation) WHERE life <> 0 AND dropped = 0;

ALTER TABLE reindexings ADD COLUMN request {{text}} NOT NULL DEFAULT '';

ALTER TABLE reindexings ADD COLUMN comparison {{text}} NOT NULL DEFAULT '';

ALTER TABLE reindexings DROP COLUMN force;
