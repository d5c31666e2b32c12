/** The parts of rendered Helm documents that the rules read. API schemas check the rest (validate.py). */
export interface Document {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels?: Labels }
  readonly data?: Readonly<Record<string, string>>
  readonly spec?: {
    readonly template?: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec }
    /** Labels in a Service, and `matchLabels` in all other documents. */
    readonly selector?: Labels & { readonly matchLabels?: Labels }
    readonly podSelector?: { readonly matchLabels?: Labels }
    readonly replicas?: number
    readonly scaleTargetRef?: { readonly kind?: string; readonly name: string }
    readonly triggers?: readonly { readonly metadata: Readonly<Record<string, string>> }[]
    readonly policyTypes?: readonly string[]
  }
}

export type Labels = Readonly<Record<string, string>>

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
}

export interface PodSpec {
  readonly automountServiceAccountToken?: boolean
  readonly terminationGracePeriodSeconds?: number
  readonly securityContext?: { readonly runAsNonRoot?: boolean; readonly seccompProfile?: { readonly type: string } }
  readonly containers: readonly Container[]
  readonly volumes: readonly { readonly name: string; readonly secret?: { readonly secretName: string } }[]
}

interface Container {
  readonly args: readonly string[]
  readonly env?: readonly {
    readonly name: string
    readonly value?: string
    readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string; readonly key: string } }
  }[]
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly resources?: { readonly limits?: { readonly memory?: string } }
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[]
  readonly securityContext?: {
    readonly allowPrivilegeEscalation?: boolean
    readonly readOnlyRootFilesystem?: boolean
    readonly capabilities?: { readonly drop?: readonly string[] }
  }
  readonly startupProbe?: Probe
  readonly livenessProbe?: Probe
  readonly readinessProbe?: Probe
}

export interface Workload {
  readonly name: string
  readonly labels: Labels
  readonly pod: PodSpec
  readonly container: Container
}

export function workloadsOf(documents: readonly Document[]): Workload[] {
  return documents.flatMap(({ metadata: { name }, spec }) => {
    const template = spec?.template
    const container = template?.spec.containers[0]
    return template && container ? [{ name, labels: template.metadata.labels, pod: template.spec, container }] : []
  })
}
