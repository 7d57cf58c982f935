CREATE TABLE webhooks (
  org            {{text}} NOT NULL,
  id             {{text}} NOT NULL,
  url            {{text}} NOT NULL,
  kinds          {{text}} NOT NULL,
  admin          {{int64}} NOT NULL,
  description    {{text}} NOT NULL,
  scheme         {{text}} NOT NULL,
  enabled        {{int64}} NOT NULL,
  reason         {{text}} NOT NULL,
  failing_since  {{int64}} NOT NULL,
  failing_events {{int64}} NOT NULL,
  failing_event  {{text}} NOT NULL,
  failing_at     {{int64}} NOT NULL,
  created_at     {{int64}} NOT NULL,
  updated_at     {{int64}} NOT NULL,
  PRIMARY KEY (org, id)
){{keyed}};

CREATE UNIQUE INDEX webhooks_by_id ON webhooks (id);

CREATE TABLE webhook_secrets (
  org        {{text}} NOT NULL,
  webhook    {{text}} NOT NULL,
  id         {{text}} NOT NULL,
  sealed     {{blob}} NOT NULL,
  public     {{text}} NOT NULL,
  created_at {{int64}} NOT NULL,
  expires_at {{int64}} NOT NULL,
  PRIMARY KEY (org, webhook, id)
){{keyed}};

CREATE TABLE deliveries (
  position      {{identity}},
  id            {{text}} NOT NULL,
  org           {{text}} NOT NULL,
  webhook       {{text}} NOT NULL,
  event         {{text}} NOT NULL,
  seq           {{int64}} NOT NULL,
  kind          {{text}} NOT NULL,
  entity        {{text}} NOT NULL,
  status        {{text}} NOT NULL,
  attempts      {{text}} NOT NULL,
  tries         {{int64}} NOT NULL,
  next_at       {{int64}},
  redelivery_of {{text}} NOT NULL,
  created_at    {{int64}} NOT NULL,
  updated_at    {{int64}} NOT NULL
){{strict}};

CREATE UNIQUE INDEX deliveries_by_id ON deliveries (id);

CREATE INDEX deliveries_by_webhook ON deliveries (webhook, position);

CREATE INDEX deliveries_by_status ON deliveries (webhook, status, position);

CREATE INDEX deliveries_by_event ON deliveries (event, webhook);

CREATE INDEX deliveries_by_org ON deliveries (org);

CREATE INDEX deliveries_by_lane ON deliveries (webhook, entity, seq, position) WHERE status = 'pending';

CREATE INDEX deliveries_due ON deliveries (webhook, next_at, position) WHERE next_at IS NOT NULL;

CREATE INDEX deliveries_by_time ON deliveries (next_at) WHERE next_at IS NOT NULL;
