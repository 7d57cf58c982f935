CREATE TABLE jobs (
  org         {{text}} NOT NULL REFERENCES organizations (id),
  id          {{text}} NOT NULL,
  kind        {{text}} NOT NULL,
  space       {{text}} NOT NULL,
  integration {{text}} NOT NULL,
  name        {{text}} NOT NULL,
  generation  {{int64}} NOT NULL,
  status      {{text}} NOT NULL,
  done        {{int64}} NOT NULL,
  total       {{int64}} NOT NULL,
  tries       {{int64}} NOT NULL,
  next_at     {{int64}} NOT NULL,
  cancel      {{int64}} NOT NULL,
  request     {{blob}},
  principal   {{blob}},
  state       {{text}},
  result      {{text}},
  error       {{text}},
  created_at  {{int64}} NOT NULL,
  started_at  {{int64}} NOT NULL,
  updated_at  {{int64}} NOT NULL,
  finished_at {{int64}} NOT NULL,
  expires_at  {{int64}} NOT NULL,
  PRIMARY KEY (org, id)
){{strict}};

CREATE INDEX jobs_by_id ON jobs (id);

CREATE INDEX jobs_by_created ON jobs (created_at, id, org);

CREATE INDEX jobs_by_partition ON jobs (org, space, name, integration, created_at);

CREATE INDEX jobs_unfinished ON jobs (next_at, created_at, id, org) WHERE finished_at = 0;

CREATE INDEX jobs_cancelled ON jobs (org, id) WHERE cancel <> 0 AND finished_at = 0;

CREATE INDEX jobs_ended ON jobs (expires_at) WHERE finished_at <> 0;

INSERT INTO jobs (org, id, kind, space, integration, name, generation, status, done, total, tries, next_at, cancel,
  request, principal, state, result, error, created_at, started_at, updated_at, finished_at, expires_at)
SELECT org, id, 'documents.write', 'documents', '', namespace, 0, status, done, total,
  CASE WHEN status = 'queued' THEN 0 ELSE 1 END, 0, 0, request, principal, NULL, result, error,
  created_at, CASE WHEN status = 'queued' THEN 0 ELSE created_at END,
  CASE WHEN finished_at = 0 THEN created_at ELSE finished_at END, finished_at,
  CASE WHEN finished_at = 0 THEN 0 ELSE finished_at + 86400000000 END
FROM operations;

UPDATE claims SET name = 'job' || substr(name, 10) WHERE name LIKE 'operation/%';

DROP TABLE operations;
