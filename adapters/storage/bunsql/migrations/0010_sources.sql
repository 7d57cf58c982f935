CREATE TABLE sources (
  org         {{text}} NOT NULL REFERENCES organizations (id),
  id          {{text}} NOT NULL PRIMARY KEY,
  name        {{text}} NOT NULL,
  kind        {{text}} NOT NULL,
  namespace   {{text}} NOT NULL,
  config      {{text}} NOT NULL,
  secrets     {{text}} NOT NULL,
  schedule    {{text}} NOT NULL,
  keep        {{int64}} NOT NULL,
  enabled     {{int64}} NOT NULL,
  state       {{text}} NOT NULL,
  reason      {{text}},
  failures    {{int64}} NOT NULL,
  cursor      {{blob}},
  items       {{int64}} NOT NULL,
  numbers     {{int64}} NOT NULL,
  documents   {{int64}} NOT NULL,
  run         {{text}} NOT NULL,
  last_run    {{text}} NOT NULL,
  next_run_at {{int64}} NOT NULL,
  retry_at    {{int64}} NOT NULL,
  due_at      {{int64}} NOT NULL,
  created_at  {{int64}} NOT NULL,
  updated_at  {{int64}} NOT NULL
){{strict}};

CREATE INDEX sources_by_org ON sources (org, id);

CREATE INDEX sources_by_state ON sources (state, id);

CREATE INDEX sources_due ON sources (due_at, id) WHERE enabled <> 0 AND due_at <> 0 AND run = '';

CREATE TABLE source_secrets (
  source {{text}} NOT NULL REFERENCES sources (id),
  name   {{text}} NOT NULL,
  sealed {{blob}} NOT NULL,
  PRIMARY KEY (source, name)
){{keyed}};

CREATE TABLE source_items (
  source       {{text}} NOT NULL REFERENCES sources (id),
  number       {{int64}} NOT NULL,
  key_hash     {{blob}} NOT NULL,
  item_key     {{text}} NOT NULL,
  version      {{text}} NOT NULL,
  name         {{text}} NOT NULL,
  url          {{text}} NOT NULL,
  content_hash {{blob}} NOT NULL,
  documents    {{int64}} NOT NULL,
  generation   {{int64}} NOT NULL,
  error        {{text}},
  attempts     {{int64}} NOT NULL,
  next_at      {{int64}} NOT NULL,
  updated_at   {{int64}} NOT NULL,
  PRIMARY KEY (source, number)
){{keyed}};

CREATE UNIQUE INDEX source_items_by_key ON source_items (source, key_hash);

CREATE INDEX source_items_failed ON source_items (source, number) WHERE error IS NOT NULL;

CREATE TABLE source_runs (
  source       {{text}} NOT NULL REFERENCES sources (id),
  id           {{text}} NOT NULL PRIMARY KEY,
  run_trigger  {{text}} NOT NULL,
  mode         {{text}} NOT NULL,
  status       {{text}} NOT NULL,
  params       {{text}},
  counts       {{text}} NOT NULL,
  error        {{text}},
  cursor       {{blob}},
  seen         {{blob}},
  problems     {{int64}} NOT NULL,
  recorded     {{int64}} NOT NULL,
  created_at   {{int64}} NOT NULL,
  started_at   {{int64}} NOT NULL,
  heartbeat_at {{int64}} NOT NULL,
  progress_at  {{int64}} NOT NULL,
  finished_at  {{int64}} NOT NULL
){{strict}};

CREATE INDEX source_runs_by_created ON source_runs (source, created_at, id);

CREATE TABLE source_run_items (
  run      {{text}} NOT NULL REFERENCES source_runs (id),
  place    {{int64}} NOT NULL,
  item_key {{text}} NOT NULL,
  status   {{text}} NOT NULL,
  error    {{text}},
  document {{text}} NOT NULL,
  PRIMARY KEY (run, place)
){{keyed}};

CREATE INDEX source_run_items_by_status ON source_run_items (run, status, place);
