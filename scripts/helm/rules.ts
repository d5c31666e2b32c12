import { chainOf } from '../../config/chains.ts'
import { parseConfig } from '../../config/load/load.ts'
import type { Config } from '../../config/schema/schema.ts'
import { chainQueue, ledgerQueue } from '../../temporal/contracts/names.ts'
import { roles } from '../../workers/roles/roles.ts'
import { type Document, type Labels, type Workload, workloadsOf } from './documents.ts'

/**
 * Mount points of Secrets. Only a lane's pods have the lane's Secret, only the ledger's pods have the Secret of
 * webhooks, and all pods have the Secret with payload keys.
 */
const laneFolder = '/run/secrets/portage/lane'
const webhookFolder = '/run/secrets/portage/notifications'
const payloadFolder = '/run/secrets/portage/payload-keys'
const checkpointRoles = ['intake', 'api']

/**
 * The rendered `portage.yaml`, read as a process reads it. Throws CONFIG_INVALID, or Error without a `portage.yaml`.
 */
export function configOf(documents: readonly Document[]): Config {
  const text = configText(documents)
  if (text === undefined) throw new Error('no ConfigMap has portage.yaml')
  const variables = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => [name, `https://${name.toLowerCase()}.example`])
  return parseConfig(text, Object.fromEntries(variables) as NodeJS.ProcessEnv, 'portage.yaml of the ConfigMap')
}

function configText(documents: readonly Document[]): string | undefined {
  return documents.find(({ kind, data }) => kind === 'ConfigMap' && data?.['portage.yaml'] !== undefined)?.data?.['portage.yaml']
}

/**
 * Differences between the documents and the code, and rules of this file that the documents break. Throws
 * CONFIG_INVALID.
 */
export function problemsOf(documents: readonly Document[]): string[] {
  const config = configOf(documents)
  const workloads = workloadsOf(documents)
  return [
    ...workloads.flatMap((workload) => [...security(workload), ...probes(workload, config), ...command(workload, config)]),
    ...secrets(workloads, documents, config),
    ...workloads.flatMap((workload) => [...webhookSecrets(workload, config), ...payloadKeys(workload, config)]),
    ...workloads.flatMap((workload) => checkpointVariables(workload, documents)),
    ...documents.flatMap((document) => [...selectors(document, workloads), ...scaling(document, documents, config)]),
    ...policies(documents, workloads),
  ]
}

function unless(name: string, facts: Readonly<Record<string, boolean>>): string[] {
  return Object.entries(facts).flatMap(([fact, holds]) => (holds ? [] : [`${name}: not ${fact}`]))
}

function security({ name, pod, container: { securityContext: own, resources, volumeMounts } }: Workload): string[] {
  return unless(name, {
    'another user than root': pod.securityContext?.runAsNonRoot === true,
    'the seccomp profile of the runtime': pod.securityContext?.seccompProfile?.type === 'RuntimeDefault',
    'a root file system that is read only': own?.readOnlyRootFilesystem === true,
    'without privilege escalation': own?.allowPrivilegeEscalation === false,
    'without capabilities': own?.capabilities?.drop?.includes('ALL') === true,
    'without a token of Kubernetes': pod.automountServiceAccountToken === false,
    'a limit of memory': resources?.limits?.memory !== undefined,
    'secrets that are read only': volumeMounts.filter((one) => one.mountPath.startsWith('/run/secrets/')).every((one) => one.readOnly),
  })
}

function probes({ name, pod, container }: Workload, { admin, worker }: Config): string[] {
  const path = (probe: typeof container.startupProbe) => (probe?.httpGet.port === 'admin' ? probe.httpGet.path : undefined)
  return unless(name, {
    'alive by /healthz': path(container.livenessProbe) === '/healthz' && path(container.startupProbe) === '/healthz',
    'ready by /readyz': path(container.readinessProbe) === '/readyz',
    'at the admin port of the config': container.ports.some((one) => one.name === 'admin' && one.containerPort === admin.port),
    'more time to stop than worker.shutdownForceSeconds': (pod.terminationGracePeriodSeconds ?? 0) > worker.shutdownForceSeconds,
  })
}

function option({ container: { args } }: Workload, name: string): string[] {
  return args.filter((_, index) => args[index - 1] === name)
}

function command(workload: Workload, config: Config): string[] {
  const [role = ''] = option(workload, '--role')
  const known = new Set(['--role', '--chain', '--lane'])
  const lanes = option(workload, '--chain').flatMap((chain) => (config.chains[chain] ? chainOf(config, chain).lanes : []))
  const addresses = lanes.filter(({ signer }) => signer).map(({ address }) => address)
  return unless(workload.name, {
    'portage run': workload.container.args[0] === 'run',
    'a known role': (roles as readonly string[]).includes(role),
    'known options': workload.container.args.filter((arg) => arg.startsWith('-')).every((arg) => known.has(arg)),
    'chains of the config': option(workload, '--chain').every((chain) => chain in config.chains),
    'lanes of the config with a signer': option(workload, '--lane').every((lane) => addresses.includes(lane.toLowerCase())),
    'one lane': option(workload, '--lane').length === (role === 'lane' ? 1 : 0),
  })
}

/** Each key must be only in the pods of its lane, with the files that its signer reads. */
function secrets(workloads: readonly Workload[], documents: readonly Document[], config: Config): string[] {
  const mounted = new Map<string, string[]>()
  const found: string[] = documents.some(({ kind }) => kind === 'Secret')
    ? ['a Secret is rendered, but values must not contain secrets']
    : []
  for (const { name, pod } of workloads) {
    const secret = pod.volumes.find((volume) => volume.name === 'lane')?.secret?.secretName
    if (secret !== undefined) mounted.set(secret, [...(mounted.get(secret) ?? []), name])
  }
  for (const [secret, names] of mounted) if (names.length !== 1) found.push(`${secret}: in ${names.join(' and ')}`)
  for (const workload of workloads) {
    const [address] = option(workload, '--lane')
    const [chain = ''] = option(workload, '--chain')
    const signer = config.chains[chain]?.lanes.find((lane) => lane.address === address?.toLowerCase())?.signer
    const mounts = workload.container.volumeMounts.some(({ mountPath }) => mountPath === laneFolder)
    const files = signer?.kind === 'keystore' ? [signer.file, signer.passwordFile ?? ''] : []
    found.push(
      ...unless(workload.name, {
        'a Secret of a lane only where its key is': mounts === files.length > 0,
        [`the key's files in ${laneFolder}`]: files.every((file) => file.startsWith(`${laneFolder}/`)),
      }),
    )
  }
  return found
}

/** All secrets of receivers must be in the pods of the role ledger, and in no other pods. */
function webhookSecrets(workload: Workload, { notifications }: Config): string[] {
  const files = notifications.flatMap(({ secrets: all }) => all.flatMap(({ secretFile }) => secretFile ?? []))
  const isLedger = option(workload, '--role')[0] === 'ledger'
  const volume = workload.container.volumeMounts.find(({ mountPath }) => mountPath === webhookFolder)?.name
  const isMounted = workload.pod.volumes.some(({ name, secret }) => name === volume && secret !== undefined)
  return unless(workload.name, {
    'the secrets of receivers where they are signed with, and nowhere else': isMounted === (isLedger && files.length > 0),
    [`the secrets of receivers in ${webhookFolder}`]: files.every((file) => file.startsWith(`${webhookFolder}/`)),
  })
}

/** The payload keys must be in every pod, because every process reads and writes payloads. */
function payloadKeys({ name, container, pod }: Workload, { temporal }: Config): string[] {
  const files = temporal.encryption?.keys.flatMap(({ keyFile }) => keyFile ?? []) ?? []
  const volume = container.volumeMounts.find(({ mountPath }) => mountPath === payloadFolder)?.name
  return unless(name, {
    'the keys of payloads, if there are any': pod.volumes.some((one) => one.name === volume && one.secret) === files.length > 0,
    [`the keys of payloads in ${payloadFolder}`]: files.every((file) => file.startsWith(`${payloadFolder}/`)),
  })
}

/** Only pods of `checkpointRoles` may have the authorization that can erase all checkpoints. */
function checkpointVariables(workload: Workload, documents: readonly Document[]): string[] {
  const [, variable] = /^ *authorization: \$\{(\w+)\}$/m.exec(configText(documents) ?? '') ?? []
  if (variable === undefined) return []
  const given = workload.container.env?.find(({ name }) => name === variable)
  const [role = ''] = option(workload, '--role')
  return unless(workload.name, {
    [`${variable} from a Secret where checkpoints are kept, and withheld elsewhere`]: checkpointRoles.includes(role)
      ? given?.valueFrom?.secretKeyRef?.key === variable
      : given?.value === 'withheld',
  })
}

function fits(selector: Labels, { labels }: Workload): boolean {
  return Object.entries(selector).every(([label, value]) => labels[label] === value)
}

/** Budgets, services, policies and workloads must select existing pods. */
function selectors({ kind, metadata: { name }, spec }: Document, workloads: readonly Workload[]): string[] {
  const selector = kind === 'Service' ? spec?.selector : (spec?.selector?.matchLabels ?? spec?.podSelector?.matchLabels)
  if (selector === undefined) return []
  return unless(`${kind}/${name}`, {
    'a selector of existing pods': workloads.some((workload) => fits(selector, workload)),
  })
}

/** A scaled deployment must exist, set no number of replicas itself, and scale by a task queue that it serves. */
function scaling({ kind, metadata: { name }, spec }: Document, documents: readonly Document[], config: Config): string[] {
  if (kind !== 'ScaledObject') return []
  const { kind: targetKind = 'Deployment', name: targetName } = spec?.scaleTargetRef ?? {}
  const target = documents.find((document) => document.kind === targetKind && document.metadata.name === targetName)
  const [workload] = target ? workloadsOf([target]) : []
  const queue =
    workload && option(workload, '--role')[0] === 'ledger' ? ledgerQueue : chainQueue((workload && option(workload, '--chain')[0]) ?? '')
  const metadata = spec?.triggers?.map((trigger) => trigger.metadata) ?? []
  return unless(`${kind}/${name}`, {
    'of an existing process': workload !== undefined,
    'the only one that says how many': target?.spec?.replicas === undefined,
    [`the queue ${queue}`]: metadata.every(({ taskQueue }) => taskQueue === queue),
    'the Temporal of the config': metadata.every(
      ({ endpoint, namespace }) => endpoint === config.temporal.address && namespace === config.temporal.namespace,
    ),
  })
}

/** Every pod must have a policy for both directions. */
function policies(documents: readonly Document[], workloads: readonly Workload[]): string[] {
  const both = documents.filter(({ kind, spec }) => kind === 'NetworkPolicy' && spec?.policyTypes?.length === 2)
  const covered = (workload: Workload) => both.some(({ spec }) => fits(spec?.podSelector?.matchLabels ?? {}, workload))
  return workloads.filter((workload) => !covered(workload)).map(({ name }) => `${name}: no network policy holds for it`)
}
