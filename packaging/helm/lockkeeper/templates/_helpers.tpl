{{/* What all objects are named after; as part of another chart, the release's name alone is that of the application. */}}
{{- define "lockkeeper.name" -}}
{{- $usual := contains "lockkeeper" .Release.Name | ternary .Release.Name (printf "%s-lockkeeper" .Release.Name) -}}
{{- .Values.fullnameOverride | default $usual | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "lockkeeper.selector" -}}
app.kubernetes.io/name: lockkeeper
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "lockkeeper.labels" -}}
{{ include "lockkeeper.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{/* The settings of all coordinators, as their YAML file. */}}
{{- define "lockkeeper.settings" -}}
{{- $certain := dict "zookeeper" .Values.zookeeper "listen" "0.0.0.0:7420" "http" "0.0.0.0:7421" "data-dir" "/var/lib/lockkeeper" -}}
{{- if .Values.insecure }}{{ $_ := set $certain "insecure" true }}{{ end -}}
{{- if .Values.tls.secret -}}
{{- $_ := set $certain "tls-cert" "/etc/lockkeeper/tls/tls.crt" -}}
{{- $_ := set $certain "tls-key" "/etc/lockkeeper/tls/tls.key" -}}
{{- end -}}
{{- if .Values.tls.clientCa.secret }}{{ $_ := set $certain "tls-client-ca" "/etc/lockkeeper/client-ca/ca.crt" }}{{ end -}}
{{- if .Values.tls.peerCa.secret }}{{ $_ := set $certain "peer-ca" "/etc/lockkeeper/peer-ca/ca.crt" }}{{ end -}}
{{- if .Values.policy }}{{ $_ := set $certain "policy" "/etc/lockkeeper/config/policy.yaml" }}{{ end -}}
{{- if .Values.tokensSecret }}{{ $_ := set $certain "tokens" "/etc/lockkeeper/tokens/tokens.yaml" }}{{ end -}}
{{- if .Values.pages.enabled }}{{ $_ := set $certain "pages" "0.0.0.0:7423" }}{{ end -}}
{{- merge $certain .Values.settings | toYaml -}}
{{- end -}}
