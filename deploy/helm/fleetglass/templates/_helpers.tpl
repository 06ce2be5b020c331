{{- define "fleetglass.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* The file of settings: what the parts need here, and .Values.settings, which win. */}}
{{- define "fleetglass.settings" -}}
{{- $own := dict
  "registrations" "management"
  "namespace" .Release.Namespace
  "encryption-key-file" "/etc/fleetglass/encryption/encryption-key"
  "listen" "0.0.0.0:8443"
  "tls-cert-file" "/etc/fleetglass/serving/tls.crt"
  "tls-private-key-file" "/etc/fleetglass/serving/tls.key"
  "metrics-listen" "0.0.0.0:8080"
  "shutdown-delay-seconds" 10
  "shutdown-grace-seconds" 60
  "log-level" "info"
-}}
{{ toYaml (merge (deepCopy .Values.settings) $own) }}
{{- end }}

{{- define "fleetglass.certificateRights" -}}
{{ .Files.Get "files/certificate-rights.yaml" | replace "fleetglass-system" .Release.Namespace }}
{{- end }}

{{/* cert-manager writes caBundle then. */}}
{{- define "fleetglass.injectCa" -}}
{{- if eq .Values.certificates.source "cert-manager" }}
  annotations:
    cert-manager.io/inject-ca-from: {{ .Release.Namespace }}/fleetglass-serving
{{- end }}
{{- end }}
