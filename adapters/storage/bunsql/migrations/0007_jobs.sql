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

INSERT INTO jobs (org, id, kind, space, integration, name, generation, status, done, total, tries, next_at, cancel,
  request, principal, state, result, error, created_at, started_at, updated_at, finished_at, expires_at)
SELECT x.org, 'job_reindex_' || n.generation,
  CASE WHEN x.space = 'memories' THEN 'end_user.reindex' ELSE 'namespace.reindex' END, x.space, x.integration, x.name, 0,
  CASE x.status WHEN 'waiting' THEN 'queued' WHEN 'running' THEN 'running' WHEN 'failed' THEN 'failed' ELSE 'succeeded' END,
  x.done, x.total, CASE WHEN x.status = 'waiting' THEN 0 ELSE 1 END, 0, 0,
  CASE WHEN x.ended = 0 AND x.request <> '' THEN {{utf8}}x.request{{/utf8}} END, NULL, NULL,
  CASE WHEN x.status IN ('succeeded', 'held', 'unchanged') THEN '{"documents":' || x.documents || ',"chunks":' || x.chunks
    || CASE x.status WHEN 'held' THEN ',"held":true' WHEN 'unchanged' THEN ',"unchanged":true' ELSE '' END
    || CASE WHEN x.comparison = '' THEN '' ELSE ',"comparison":' || x.comparison END || '}' END,
  CASE WHEN x.status = 'failed' THEN {{json_object}}('code', x.code, 'message', x.message) END,
  x.updated_at, CASE WHEN x.status = 'waiting' THEN 0 ELSE x.updated_at END, x.updated_at,
  CASE WHEN x.ended = 0 THEN 0 ELSE x.updated_at END, CASE WHEN x.ended = 0 THEN 0 ELSE x.updated_at + 3600000000 END
FROM reindexings x JOIN namespaces n ON n.org = x.org AND n.space = x.space AND n.integration = x.integration
  AND n.name = x.name AND n.life = 0 AND n.dropped = 0;

DELETE FROM claims WHERE name LIKE 'reindex/%' OR name LIKE 'erase/%';

DROP TABLE reindexings;
