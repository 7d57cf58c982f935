ALTER TABLE members ADD COLUMN issuer {{text}} NOT NULL DEFAULT '';

ALTER TABLE members ADD COLUMN subject {{text}} NOT NULL DEFAULT '';

ALTER TABLE members ADD COLUMN disabled_at {{int64}} NOT NULL DEFAULT 0;

CREATE UNIQUE INDEX members_by_identity ON members (issuer, subject, org) WHERE subject <> '';

CREATE INDEX members_by_address ON members (email);
