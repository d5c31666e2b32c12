{{- define "portage.fullname" -}}
{{- if contains "portage" .Release.Name -}}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{- else -}}{{ printf "%s-portage" .Release.Name | trunc 40 | trimSuffix "-" }}{{- end -}}
{{- end -}}

{{/* dict: root, component. Labels that a selector may use, because they never change. */}}
{{- define "portage.selector" -}}
app.kubernetes.io/name: portage
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "portage.labels" -}}
{{ include "portage.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
portage/role: {{ .role }}
{{- end -}}

{{- define "portage.image" -}}
{{- if .Values.image.digest -}}{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{- end -}}
{{- end -}}

{{/* portage.yaml: `config`, with the fields that the chart sets from the other values. */}}
{{- define "portage.config" -}}
{{- $credentials := "/run/secrets/portage/temporal" -}}
{{- $temporal := dict "address" .Values.temporal.address "namespace" .Values.temporal.namespace "useEnvironment" false -}}
{{- if .Values.temporal.tls.enabled -}}
{{- $tls := dict -}}
{{- if .Values.temporal.tls.ca }}{{- $_ := set $tls "caFile" (printf "%s/ca.crt" $credentials) }}{{- end -}}
{{- if .Values.temporal.tls.mutual }}{{- $_ := set $tls "certificateFile" (printf "%s/tls.crt" $credentials) }}{{- $_ := set $tls "keyFile" (printf "%s/tls.key" $credentials) }}{{- end -}}
{{- with .Values.temporal.tls.serverName }}{{- $_ := set $tls "serverName" . }}{{- end -}}
{{- $_ := set $temporal "tls" $tls -}}
{{- end -}}
{{- if .Values.temporal.apiKey }}{{- $_ := set $temporal "apiKeyFile" (printf "%s/api-key" $credentials) }}{{- end -}}
{{- $set := dict "dataFolder" "/var/lib/portage/data" "temporal" $temporal "admin" (dict "host" "0.0.0.0" "port" (int .Values.admin.port)) "api" (dict "host" "0.0.0.0" "port" (int .Values.api.port)) -}}
{{- toYaml (mustMergeOverwrite (deepCopy .Values.config) $set) -}}
{{- end -}}

{{/* dict: root, role, component, args, credentials (name of a Secret or ''), laneSecret and notificationsSecret (or ''), account, volume (emptyDir, claim or template) */}}
{{- define "portage.pod" -}}
{{- $root := .root -}}
{{- $credentials := .credentials | default $root.Values.temporal.credentialsSecret -}}
metadata:
  labels:
    {{- include "portage.labels" . | nindent 4 }}
  annotations:
    # A new config restarts the pod.
    checksum/config: {{ include "portage.config" $root | sha256sum }}
    {{- with $root.Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ .account }}
  # Portage never talks to Kubernetes.
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ $root.Values.terminationGracePeriodSeconds }}
  {{- with $root.Values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  containers:
    - name: portage
      image: {{ include "portage.image" $root }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args:
        {{- toYaml .args | nindent 8 }}
      env:
        - name: PORTAGE_CONFIG
          value: /etc/portage/portage.yaml
        {{- range $secret := $root.Values.environmentSecrets }}
        {{- if kindIs "map" $secret }}
        {{- range $key := $secret.keys }}
        - name: {{ $key }}
          {{- if has $.role $secret.roles }}
          valueFrom: { secretKeyRef: { name: {{ $secret.name }}, key: {{ $key }} } }
          {{- else }}
          # Every process reads the whole config, so every pod must set all of the config's variables.
          value: withheld
          {{- end }}
        {{- end }}
        {{- end }}
        {{- end }}
      {{- $shared := list -}}
      {{- range $root.Values.environmentSecrets }}{{ if kindIs "string" . }}{{ $shared = append $shared . }}{{ end }}{{ end }}
      {{- with $shared }}
      envFrom:
        {{- range . }}
        - secretRef:
            name: {{ . }}
        {{- end }}
      {{- end }}
      ports:
        - name: admin
          containerPort: {{ $root.Values.admin.port }}
        {{- if eq .role "api" }}
        - name: api
          containerPort: {{ $root.Values.api.port }}
        {{- end }}
      # /healthz fails only if the process has stopped polling a queue of Temporal. /readyz fails while the process
      # lacks something that it needs. A process that waits for Temporal or a node is not restarted, because it is
      # alive.
      startupProbe:
        httpGet: { path: /healthz, port: admin }
        periodSeconds: 2
        failureThreshold: 60
      livenessProbe:
        httpGet: { path: /healthz, port: admin }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, port: admin }
        periodSeconds: 5
        timeoutSeconds: 5
      resources:
        {{- toYaml (index $root.Values.resources .role) | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      volumeMounts:
        - name: config
          mountPath: /etc/portage
          readOnly: true
        - name: data
          mountPath: /var/lib/portage
        - name: tmp
          mountPath: /tmp
        {{- if .laneSecret }}
        - name: lane
          mountPath: /run/secrets/portage/lane
          readOnly: true
        {{- end }}
        {{- if .notificationsSecret }}
        - name: notifications
          mountPath: /run/secrets/portage/notifications
          readOnly: true
        {{- end }}
        {{- if $credentials }}
        - name: temporal
          mountPath: /run/secrets/portage/temporal
          readOnly: true
        {{- end }}
        {{- if $root.Values.temporal.payloadKeysSecret }}
        - name: payload-keys
          mountPath: /run/secrets/portage/payload-keys
          readOnly: true
        {{- end }}
  volumes:
    - name: config
      configMap:
        name: {{ include "portage.fullname" $root }}-config
    - name: tmp
      emptyDir:
        sizeLimit: 64Mi
    {{- if eq .volume "emptyDir" }}
    - name: data
      emptyDir:
        sizeLimit: 256Mi
    {{- end }}
    {{- if .laneSecret }}
    - name: lane
      secret:
        secretName: {{ .laneSecret }}
        defaultMode: 0440
    {{- end }}
    {{- if .notificationsSecret }}
    - name: notifications
      secret:
        secretName: {{ .notificationsSecret }}
        defaultMode: 0440
    {{- end }}
    {{- if $credentials }}
    - name: temporal
      secret:
        secretName: {{ $credentials }}
        defaultMode: 0440
    {{- end }}
    {{- if $root.Values.temporal.payloadKeysSecret }}
    - name: payload-keys
      secret:
        secretName: {{ $root.Values.temporal.payloadKeysSecret }}
        defaultMode: 0440
    {{- end }}
  {{- with $root.Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $root.Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $root.Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "portage.selector" . | nindent 10 }}
{{- end -}}

{{/* dict: root, role, component, args, credentials, replicas, scaled */}}
{{- define "portage.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "portage.fullname" .root }}-{{ .component }}
  labels:
    {{- include "portage.labels" . | nindent 4 }}
spec:
  {{- if not .scaled }}
  replicas: {{ .replicas }}
  {{- end }}
  revisionHistoryLimit: 5
  strategy:
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
  selector:
    matchLabels:
      {{- include "portage.selector" . | nindent 6 }}
  template:
    {{- include "portage.pod" (merge (dict "volume" "emptyDir" "laneSecret" "" "account" (include "portage.fullname" .root)) .) | nindent 4 }}
{{- end -}}

{{/* dict: root, role, component, args, credentials, replicas, scaled, laneSecret, account */}}
{{- define "portage.statefulset" -}}
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {{ include "portage.fullname" .root }}-{{ .component }}
  labels:
    {{- include "portage.labels" . | nindent 4 }}
spec:
  {{- if not .scaled }}
  replicas: {{ .replicas }}
  {{- end }}
  revisionHistoryLimit: 5
  serviceName: {{ include "portage.fullname" .root }}-{{ .component }}
  podManagementPolicy: Parallel
  selector:
    matchLabels:
      {{- include "portage.selector" . | nindent 6 }}
  template:
    {{- include "portage.pod" (merge (dict "volume" (ternary "template" "emptyDir" .root.Values.persistence.enabled)) .) | nindent 4 }}
  {{- if .root.Values.persistence.enabled }}
  volumeClaimTemplates:
    - metadata:
        name: data
      spec:
        accessModes: [ReadWriteOnce]
        {{- with .root.Values.persistence.storageClass }}
        storageClassName: {{ . }}
        {{- end }}
        resources:
          requests:
            storage: {{ .root.Values.persistence.size }}
  {{- end }}
---
# A StatefulSet needs a headless service for the names of its pods.
apiVersion: v1
kind: Service
metadata:
  name: {{ include "portage.fullname" .root }}-{{ .component }}
  labels:
    {{- include "portage.labels" . | nindent 4 }}
spec:
  clusterIP: None
  ports:
    - name: admin
      port: {{ .root.Values.admin.port }}
      targetPort: admin
  selector:
    {{- include "portage.selector" . | nindent 4 }}
{{- end -}}

{{/* dict: root, role, component, replicas */}}
{{- define "portage.budget" -}}
{{- if and .root.Values.disruptionBudgets (gt (int .replicas) 1) }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "portage.fullname" .root }}-{{ .component }}
  labels:
    {{- include "portage.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "portage.selector" . | nindent 6 }}
{{- end }}
{{- end -}}

{{/* Refuses, with one sentence each, values with which Portage would start but not work. */}}
{{- define "portage.validate" -}}
{{- $chains := .Values.config.chains | default dict -}}
{{- if not $chains }}{{ fail "config.chains is empty: config is portage.yaml (docs/reference/config.md)" }}{{- end -}}
{{- if and (or .Values.temporal.apiKey .Values.temporal.tls.ca .Values.temporal.tls.mutual) (not .Values.temporal.credentialsSecret) }}{{ fail "temporal.credentialsSecret is empty: name the Secret with the API key and the TLS files" }}{{- end -}}
{{- range $receiver := .Values.config.notifications }}
{{- range $secret := $receiver.secrets }}
{{- if $secret.secretFile }}
{{- if not $.Values.ledger.notificationsSecret }}{{ fail (printf "ledger.notificationsSecret is empty: name the Secret with the secret of the receiver %s" $receiver.name) }}{{- end -}}
{{- if not (hasPrefix "/run/secrets/portage/notifications/" $secret.secretFile) }}{{ fail (printf "config.notifications: the secretFile of %s is not in /run/secrets/portage/notifications" $receiver.name) }}{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $key := ((.Values.config.temporal | default dict).encryption | default dict).keys }}
{{- if $key.keyFile }}
{{- if not $.Values.temporal.payloadKeysSecret }}{{ fail (printf "temporal.payloadKeysSecret is empty: name the Secret with the payload key %s" $key.id) }}{{- end -}}
{{- if not (hasPrefix "/run/secrets/portage/payload-keys/" $key.keyFile) }}{{ fail (printf "config.temporal.encryption: the keyFile of %s is not in /run/secrets/portage/payload-keys" $key.id) }}{{- end -}}
{{- end -}}
{{- end -}}
{{- $served := dict -}}
{{- range .Values.chains }}
{{- if not (hasKey $chains .name) }}{{ fail (printf "chains: %s is not in config.chains" .name) }}{{- end -}}
{{- if hasKey $served .name }}{{ fail (printf "chains: %s is listed twice" .name) }}{{- end -}}
{{- $_ := set $served .name true -}}
{{- end -}}
{{- $names := dict -}}
{{- $secrets := dict -}}
{{- range $lane := .Values.lanes }}
{{- if not (hasKey $chains $lane.chain) }}{{ fail (printf "lanes: %s is on %s, which is not in config.chains" $lane.name $lane.chain) }}{{- end -}}
{{- if hasKey $names $lane.name }}{{ fail (printf "lanes: %s is listed twice" $lane.name) }}{{- end -}}
{{- $_ := set $names $lane.name true -}}
{{- if $lane.secret }}
{{- if hasKey $secrets $lane.secret }}{{ fail (printf "lanes: %s and %s share the secret %s: each lane has its own" $lane.name (get $secrets $lane.secret) $lane.secret) }}{{- end -}}
{{- $_ := set $secrets $lane.secret $lane.name -}}
{{- end -}}
{{- $found := false -}}
{{- range (index $chains $lane.chain).lanes }}
{{- if and (eq (lower .address) (lower $lane.address)) .signer }}{{- $found = true }}{{- end -}}
{{- end -}}
{{- if not $found }}{{ fail (printf "lanes: config.chains.%s.lanes has no lane %s with a signer (%s)" $lane.chain $lane.address $lane.name) }}{{- end -}}
{{- end -}}
{{- end -}}
