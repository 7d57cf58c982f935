{{/* What all pods of the chart are bound to. */}}
{{- define "mneme.pod" -}}
serviceAccountName: {{ include "mneme.name" . }}
automountServiceAccountToken: false
enableServiceLinks: false # MNEME_PORT and the like would be taken for settings
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  {{- if eq .Values.mode "single" }}
  fsGroupChangePolicy: OnRootMismatch
  {{- end }}
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{- define "mneme.container" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: config, mountPath: /config, readOnly: true }
  {{- if eq .Values.mode "scaled" }}
  - { name: secrets, mountPath: /secrets, readOnly: true }
  {{- end }}
  - { name: data, mountPath: /data }
  - { name: cache, mountPath: /cache }
  - { name: tmp, mountPath: /tmp }
{{- end }}

{{- define "mneme.volumes" -}}
- { name: config, configMap: { name: {{ include "mneme.name" . }} } }
{{- if eq .Values.mode "scaled" }}
- { name: secrets, secret: { secretName: {{ .Values.secretName }}, defaultMode: 0440 } }
# Nothing durable is here: documents and indexes are in the databases.
- { name: data, emptyDir: { sizeLimit: 2Gi } }
{{- end }}
- { name: cache, emptyDir: { sizeLimit: 1Gi } }
- { name: tmp, emptyDir: { sizeLimit: 1Gi } }
{{- end }}

{{/* What finds the configuration and the databases. */}}
{{- define "mneme.environment" -}}
- { name: MNEME_CONFIG, value: /config/mneme.yaml }
{{- if and (eq .Values.mode "scaled") (not .Values.scaled.opensearch.hosts) }}
- { name: MNEME_MEILISEARCH_URL, value: {{ .Values.scaled.meilisearchURL | quote }} }
{{- end }}
{{- end }}

{{/* The template of a server's pod. */}}
{{- define "mneme.server" -}}
metadata:
  labels:
    {{- include "mneme.selector" . | nindent 4 }}
    app.kubernetes.io/component: server
  annotations:
    prometheus.io/scrape: "true"
    prometheus.io/port: "8081"
    prometheus.io/path: /metrics
    checksum/config: {{ include "mneme.merged" . | sha256sum }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  {{- include "mneme.pod" . | nindent 2 }}
  terminationGracePeriodSeconds: 145 # a write may take 120 s
  {{- if eq .Values.mode "scaled" }}
  topologySpreadConstraints:
    {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "mneme.selector" $ | nindent 10 }}
          app.kubernetes.io/component: server
    {{- end }}
  {{- end }}
  containers:
    - name: mneme
      image: {{ include "mneme.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [serve]
      ports:
        - { name: http, containerPort: 8080 }
        - { name: admin, containerPort: 8081 } # health and metrics alone
      env:
        {{- include "mneme.environment" . | nindent 8 }}
        - { name: MNEME_ADMIN_ADDR, value: "0.0.0.0:8081" }
        - { name: MNEME_BASE_URL, value: {{ include "mneme.baseURL" . | quote }} }
        - name: MNEME_FIRST_KEY
          valueFrom: { secretKeyRef: { name: {{ .Values.secretName }}, key: first-key, optional: true } }
        {{- with .Values.memoryLimit }}
        - { name: GOMEMLIMIT, value: {{ . }} }
        {{- end }}
        {{- with .Values.env }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      # A new server must have searched through every retriever before it gets
      # calls. Later its own health counts alone: a database that is away is away
      # for all servers, and taking them all out would turn degraded answers into none.
      startupProbe:
        httpGet: { path: /health/deep, port: admin }
        periodSeconds: 5
        timeoutSeconds: 6
        failureThreshold: 60
      readinessProbe:
        httpGet: { path: /health, port: admin }
        periodSeconds: 5
        timeoutSeconds: 2
        failureThreshold: 2
      livenessProbe:
        httpGet: { path: /health, port: admin }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      lifecycle:
        preStop: { sleep: { seconds: 5 } } # until endpoints know
      resources: {{- toYaml .Values.resources | nindent 8 }}
      {{- include "mneme.container" . | nindent 6 }}
  volumes:
    {{- include "mneme.volumes" . | nindent 4 }}
{{- end }}
