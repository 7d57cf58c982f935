-- What this database, one of several, is to an organization (package sharded), and the move that says so.
ALTER TABLE organizations ADD COLUMN standing {{int64}} NOT NULL DEFAULT 0;

ALTER TABLE organizations ADD COLUMN move {{int64}} NOT NULL DEFAULT 0;

CREATE INDEX organizations_unsettled ON organizations (id) WHERE standing <> 0;

-- In the home: the last move of each organization from one database to another. A number is never given twice.
CREATE TABLE moves (
  org        {{text}} NOT NULL PRIMARY KEY,
  number     {{int64}} NOT NULL UNIQUE,
  origin     {{text}} NOT NULL,
  target     {{text}} NOT NULL,
  expires_at {{int64}} NOT NULL,
  ended      {{int64}} NOT NULL
){{strict}};
