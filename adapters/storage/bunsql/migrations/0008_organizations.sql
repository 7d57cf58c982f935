ALTER TABLE api_keys ADD COLUMN created_by {{text}} NOT NULL DEFAULT '';

ALTER TABLE organizations ADD COLUMN deleting_at {{int64}} NOT NULL DEFAULT 0;
