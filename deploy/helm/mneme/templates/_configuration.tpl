{{/* The configuration of a mode; its secrets are read from files. */}}
{{- define "mneme.configuration" -}}
# Folders of the process's own: all may write into that of a volume.
data_dir: /data/mneme
cache_dir: /cache/mneme
server:
  addr: 0.0.0.0:8080
  base_url: ${MNEME_BASE_URL:-https://memory.example.org}
log: { level: info, format: json }
{{- if eq .Values.mode "scaled" }}
storage:
  postgres:
    dsn: ${file:/secrets/postgres-dsn}
    migrate: false
{{- if .Values.scaled.opensearch.hosts }}
{{- range list "keyword" "vector" "sparse" }}
{{ . }}: {{- include "mneme.opensearch" $ | nindent 2 }}
{{- end }}
{{- else }}
vector: { postgres: { dsn: "${file:/secrets/postgres-dsn}" } }
sparse: { postgres: { dsn: "${file:/secrets/postgres-dsn}" } }
keyword:
  meilisearch:
    url: ${MNEME_MEILISEARCH_URL}
    api_key: ${file:/secrets/meilisearch-key}
    on_outage: catch_up
{{- end }}
models:
  e5-small-v2:
    wasm: { module: "builtin:e5-small-v2", timeout: 30s }
  splade-tiny:
    wasm: { module: "builtin:splade-tiny", timeout: 30s }
  rerank-small:
    wasm: { module: "builtin:rerank-small", timeout: 30s }
roles:
  embed: e5-small-v2
  sparse: splade-tiny
  rerank: rerank-small
limits:
  read: 600/min burst 60
  write: 120/min burst 20
  rerank: 120/min burst 20
  admin: 120/min
  shared: store
  import_mb: 512 # /tmp is an emptyDir of 1 GiB, and a pod that passes that is evicted
  temp_mb: 896
{{- else }}
limits:
  import_mb: 512 # /tmp is an emptyDir of 1 GiB, and a pod that passes that is evicted
  temp_mb: 896
{{- end }}
{{- end }}

{{/* The index in OpenSearch; the same for each retriever, so that they share one. */}}
{{- define "mneme.opensearch" -}}
{{- with .Values.scaled.opensearch -}}
opensearch:
  hosts: {{ toJson .hosts }}
  {{- with .username }}
  username: {{ . | quote }}
  password: ${file:/secrets/opensearch-password}
  {{- end }}
  {{- with .caFile }}
  ca_file: {{ . | quote }}
  {{- end }}
  index_prefix: {{ .indexPrefix | quote }}
  shards: {{ .shards }}
  replicas: {{ .replicas }}
  on_outage: catch_up
{{- end }}
{{- end }}

{{/* It with the values merged into it. */}}
{{- define "mneme.merged" -}}
{{ mustMergeOverwrite (include "mneme.configuration" . | fromYaml) .Values.config | toYaml }}
{{- end }}
