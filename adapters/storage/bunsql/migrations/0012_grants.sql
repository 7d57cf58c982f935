CREATE TABLE grants (
  org         {{text}} NOT NULL REFERENCES organizations (id),
  id          {{text}} NOT NULL,
  integration {{text}} NOT NULL,
  end_user    {{text}} NOT NULL,
  source      {{text}} NOT NULL,
  secrets     {{text}} NOT NULL,
  sealed      {{blob}},
  created_at  {{int64}} NOT NULL,
  revoked_at  {{int64}} NOT NULL,
  upstream    {{text}} NOT NULL,
  PRIMARY KEY (org, id)
){{strict}};

CREATE INDEX grants_by_end_user ON grants (org, integration, end_user, created_at, id) WHERE end_user <> '';

ALTER TABLE namespaces ADD COLUMN erased_grants {{int64}} NOT NULL DEFAULT 0;

ALTER TABLE namespaces ADD COLUMN erased_unanswered {{int64}} NOT NULL DEFAULT 0;

ALTER TABLE integrations ADD COLUMN grants_required {{int64}} NOT NULL DEFAULT 0;

ALTER TABLE api_keys ADD COLUMN source {{text}} NOT NULL DEFAULT '';
