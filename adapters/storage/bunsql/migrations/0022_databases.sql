-- The databases that an installation is spread over. The home, number 0, knows all of them; every
-- other one knows itself.
CREATE TABLE databases (
  name         {{text}} NOT NULL PRIMARY KEY,
  number       {{int64}} NOT NULL UNIQUE,
  installation {{text}} NOT NULL
){{strict}};

-- In the home: which organizations have their rows in another database.
CREATE TABLE placements (
  org  {{text}} NOT NULL PRIMARY KEY,
  name {{text}} NOT NULL
){{strict}};

CREATE INDEX placements_by_name ON placements (name);

-- In the home: audit records that were taken over from another database and may still wait there.
CREATE TABLE audit_taken (
  id   {{text}} NOT NULL PRIMARY KEY,
  name {{text}} NOT NULL
){{strict}};
