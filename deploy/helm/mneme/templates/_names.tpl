{{- define "mneme.name" -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{/* What selects the pods: it can't be changed once a Deployment is there. */}}
{{- define "mneme.selector" -}}
app.kubernetes.io/name: {{ include "mneme.name" . }}
{{- end }}

{{- define "mneme.labels" -}}
{{ include "mneme.selector" . }}
app.kubernetes.io/part-of: mneme
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 }}
{{- end }}

{{- define "mneme.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "mneme.baseURL" -}}
{{ if and .Values.ingress.enabled (not .Values.ingress.tlsSecret) }}http{{ else }}https{{ end }}://{{ .Values.host }}
{{- end }}
