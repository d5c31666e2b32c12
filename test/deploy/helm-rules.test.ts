import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { parseConfig } from '../../config/load/load.ts'
import type { Document } from '../../scripts/helm/documents.ts'
import { monitoringProblems } from '../../scripts/helm/monitoring.ts'
import { problemsOf } from '../../scripts/helm/rules.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const files = readdirSync(join(root, 'deploy/helm/values'))

const config = `
admin: { host: 0.0.0.0, port: 9464 }
temporal: { address: 'temporal:7233' }
chains:
  ethereum:
    family: evm
    networkId: 1
    nodes: [{ url: '\${ETHEREUM_RPC_URL}' }]
    finality: { kind: tag }
    blockTimeMs: 12000
    lanes:
      - address: '0x0000000000000000000000000000000000000001'
        signer: { kind: keystore, file: /run/secrets/portage/lane/keystore.json, passwordFile: /run/secrets/portage/lane/password }
bridges: {}
`

/** A small rendered chart with one lane. `change` can make its text invalid. */
function rendered(change: (text: string) => string = (text) => text): Document[] {
  const probe = (path: string) => `{ httpGet: { path: ${path}, port: admin } }`
  const workload = `
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: lane }
spec:
  template:
    metadata: { labels: { component: lane } }
    spec:
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: 45
      securityContext: { runAsNonRoot: true, seccompProfile: { type: RuntimeDefault } }
      containers:
        - args: [run, --role, lane, --chain, ethereum, --lane, '0x0000000000000000000000000000000000000001']
          ports: [{ name: admin, containerPort: 9464 }]
          resources: { limits: { memory: 1Gi } }
          volumeMounts: [{ name: lane, mountPath: /run/secrets/portage/lane, readOnly: true }]
          securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: [ALL] } }
          startupProbe: ${probe('/healthz')}
          livenessProbe: ${probe('/healthz')}
          readinessProbe: ${probe('/readyz')}
      volumes: [{ name: lane, secret: { secretName: lane-1 } }]`
  const policy = `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: all }
spec: { podSelector: { matchLabels: { component: lane } }, policyTypes: [Ingress, Egress] }`
  const map: Document = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'config' }, data: { 'portage.yaml': config } }
  return [map, parse(change(workload)) as Document, parse(change(policy)) as Document]
}

describe('the rules that npm run helm:check holds the chart to', () => {
  test('the rules of helm:check find nothing in a correct chart', () => {
    expect(problemsOf(rendered())).toEqual([])
  })

  test.each([
    ['--role, lane', '--role, lanes', 'a known role'],
    ['--chain, ethereum', '--chain, nowhere', 'chains of the config'],
    ['000001', '000002', 'lanes of the config with a signer'],
    ['--lane', '--key', 'known options'],
    ['containerPort: 9464', 'containerPort: 9465', 'at the admin port of the config'],
    ['runAsNonRoot: true', 'runAsNonRoot: false', 'another user than root'],
    ['readOnlyRootFilesystem: true', 'readOnlyRootFilesystem: false', 'a root file system that is read only'],
    ['drop: [ALL]', 'drop: [NET_RAW]', 'without capabilities'],
    ['terminationGracePeriodSeconds: 45', 'terminationGracePeriodSeconds: 20', 'more time to stop'],
    ['/readyz', '/healthz', 'ready by /readyz'],
    ['readOnly: true', 'readOnly: false', 'secrets that are read only'],
    ['mountPath: /run/secrets/portage/lane', 'mountPath: /run/secrets/portage/other', 'a Secret of a lane only where its key is'],
    [
      'podSelector: { matchLabels: { component: lane } }',
      'podSelector: { matchLabels: { component: gone } }',
      'no network policy holds for it',
    ],
    [
      'podSelector: { matchLabels: { component: lane } }',
      'podSelector: { matchLabels: { component: gone } }',
      'a selector of existing pods',
    ],
  ])('the rules of helm:check find %s changed to %s', (from, to, problem) => {
    expect(problemsOf(rendered((text) => text.replace(from, to)))).toContainEqual(expect.stringContaining(problem))
  })

  test('the rules of helm:check find one key in two workloads', () => {
    const [map, one, policy] = rendered()
    const other = rendered((text) => text.replace('{ name: lane }', '{ name: other }'))[1]
    expect(problemsOf([map, one, policy, other] as Document[])).toEqual(['lane-1: in lane and other'])
  })
})

describe('the rules for the secrets of receivers', () => {
  const receiver = `notifications: [{ name: books, url: 'https://books.example/', secrets: [{ secretFile: /run/secrets/portage/notifications/books }], events: [transfer.parked] }]`
  const ledger = (change: (text: string) => string = (text) => text): Document[] => {
    const [map, lane, policy] = rendered() as [Document, Document, Document]
    const made = rendered((text) =>
      text
        .replace('{ name: lane }', '{ name: ledger }')
        .replace(/args: .*/, 'args: [run, --role, ledger]')
        .replace(
          '{ name: lane, mountPath: /run/secrets/portage/lane',
          '{ name: notifications, mountPath: /run/secrets/portage/notifications',
        )
        .replace('{ name: lane, secret: { secretName: lane-1 } }', '{ name: notifications, secret: { secretName: hooks } }'),
    )[1] as Document
    const config = { ...map, data: { 'portage.yaml': change(`${map.data?.['portage.yaml'] ?? ''}${receiver}\n`) } }
    return [config, lane, policy, made]
  }

  test('the rules for the secrets of receivers find nothing in a correct chart', () => {
    expect(problemsOf(ledger())).toEqual([])
  })

  test('the rules find a webhook secret elsewhere, a missing one, and one that another process has', () => {
    expect(problemsOf(ledger((text) => text.replace('notifications/books', 'lane/books')))).toContainEqual(
      expect.stringContaining('in /run/secrets/portage/notifications'),
    )
    const [config, lane, policy, made] = ledger() as [Document, Document, Document, Document]
    const bare = rendered((text) =>
      text.replace('{ name: lane }', '{ name: ledger }').replace(/args: .*/, 'args: [run, --role, ledger]'),
    )[1] as Document
    expect(problemsOf([config, lane, policy, bare])).toContainEqual(expect.stringContaining('ledger: not the secrets of receivers'))
    const { spec } = made
    const container = spec!.template!.spec.containers[0]!
    const args = ['run', '--role', 'intake']
    const intake = {
      ...made,
      metadata: { name: 'intake' },
      spec: { ...spec, template: { ...spec!.template!, spec: { ...spec!.template!.spec, containers: [{ ...container, args }] } } },
    }
    expect(problemsOf([config, lane, policy, made, intake])).toContainEqual(expect.stringContaining('intake: not the secrets of receivers'))
  })
})

function withConfig(more: string, change?: (text: string) => string): Document[] {
  const [map, ...others] = rendered(change) as [Document, ...Document[]]
  return [{ ...map, data: { 'portage.yaml': `${map.data?.['portage.yaml'] ?? ''}${more}\n` } }, ...others]
}

describe('the rules for the keys of payloads', () => {
  const keys = (file: string) => `temporal: { address: 'temporal:7233', encryption: { keys: [{ id: a, keyFile: ${file} }] } }`
  const bare = (more: string, change?: (text: string) => string) =>
    withConfig(more, change).map((one) =>
      one.data
        ? { ...one, data: { 'portage.yaml': one.data['portage.yaml']!.replace("temporal: { address: 'temporal:7233' }\n", '') } }
        : one,
    )
  const mounted = (text: string) =>
    text
      .replace('volumeMounts: [', 'volumeMounts: [{ name: keys, mountPath: /run/secrets/portage/payload-keys, readOnly: true }, ')
      .replace('volumes: [', 'volumes: [{ name: keys, secret: { secretName: payload-keys } }, ')

  test('the payload keys may be in every pod', () => {
    expect(problemsOf(bare(keys('/run/secrets/portage/payload-keys/a'), mounted))).toEqual([])
  })

  test('the rules find a pod without payload keys, and a key file outside the mounted folder', () => {
    expect(problemsOf(bare(keys('/run/secrets/portage/payload-keys/a')))).toEqual(['lane: not the keys of payloads, if there are any'])
    expect(problemsOf(bare(keys('/etc/a'), mounted))).toEqual(['lane: not the keys of payloads in /run/secrets/portage/payload-keys'])
  })
})

describe('the rules for secrets of some roles', () => {
  const checkpoints = `streams:\n  checkpoints:\n    kind: http\n    url: https://objects.example/\n    authorization: \${CHECKPOINTS_AUTHORIZATION}`
  const problems = (role: string, value: string) =>
    problemsOf(
      withConfig(checkpoints, (text) => text.replace(/- args: .*/, `- args: [run, --role, ${role}]\n          env: [${value}]`)),
    ).filter((problem) => problem.includes('CHECKPOINTS_AUTHORIZATION'))
  const given = '{ name: CHECKPOINTS_AUTHORIZATION, valueFrom: { secretKeyRef: { name: a, key: CHECKPOINTS_AUTHORIZATION } } }'
  const withheld = '{ name: CHECKPOINTS_AUTHORIZATION, value: withheld }'

  test.each(['intake', 'api'])('the role %s must have the authorization of the checkpoints', (role) => {
    expect(problems(role, given)).toEqual([])
    expect(problems(role, withheld)).toHaveLength(1)
  })

  test.each(['lane', 'chain', 'ledger'])('the role %s must not have the authorization of the checkpoints', (role) => {
    expect(problems(role, withheld)).toEqual([])
    expect(problems(role, given)).toHaveLength(1)
    expect(problems(role, '')).toHaveLength(1)
  })
})

describe('the rules for what is scaled', () => {
  const scaled = (change: (text: string) => string = (text) => text): Document[] => {
    const [map, lane, policy] = rendered() as [Document, Document, Document]
    const chain = rendered((text) =>
      text
        .replace('StatefulSet', 'Deployment')
        .replace('{ name: lane }', '{ name: chain }')
        .replace(/args: .*/, 'args: [run, --role, chain, --chain, ethereum]')
        .replace(/volumeMounts: .*/, 'volumeMounts: []')
        .replace(/volumes: .*/, 'volumes: []'),
    )[1] as Document
    const object = `
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: { name: chain }
spec:
  scaleTargetRef: { name: chain }
  triggers: [{ type: temporal, metadata: { endpoint: 'temporal:7233', namespace: default, taskQueue: 'chain:ethereum' } }]`
    return [map, lane, policy, chain, parse(change(object)) as Document]
  }

  test('the rules for scaling find nothing in a correct chart', () => {
    expect(problemsOf(scaled())).toEqual([])
  })

  test.each([
    ['{ name: chain }\n  triggers', '{ name: gone }\n  triggers', 'of an existing process'],
    ['{ name: chain }\n  triggers', '{ kind: StatefulSet, name: chain }\n  triggers', 'of an existing process'],
    ['chain:ethereum', 'chain:bsc', 'the queue chain:ethereum'],
    ['temporal:7233', 'other:7233', 'the Temporal of the config'],
  ])('the rules for scaling find %s changed to %s', (from, to, problem) => {
    expect(problemsOf(scaled((text) => text.replace(from, to)))).toContainEqual(expect.stringContaining(problem))
  })
})

describe('the rules for what watches', () => {
  const rule = (file: string): Document => ({
    ...{ apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule', metadata: { name: file } },
    spec: parse(read(`deploy/prometheus/${file}`)) as NonNullable<Document['spec']>,
  })
  const board = (file: string, labels = { grafana_dashboard: '1' }): Document => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: file, labels } },
    data: { [`portage-${file}`]: read(`deploy/grafana/${file}`) },
  })
  const rules = readdirSync(join(root, 'deploy/prometheus')).map(rule)
  const boards = readdirSync(join(root, 'deploy/grafana')).map((file) => board(file))
  const problems = (...documents: Document[]) => monitoringProblems([...rendered(), ...documents], join(root, 'deploy'))

  test('the rules for monitoring find nothing if all rules and dashboards are there, or none', () => {
    expect([problems(), problems(...rules, ...boards)]).toEqual([[], []])
  })

  test('the rules for monitoring find missing files, and files that the sidecar would not find', () => {
    expect(problems(...rules.slice(1))).toEqual(['deploy/prometheus/alerts.yml is not what is rendered'])
    expect(problems(...boards.slice(1))).toEqual(['deploy/grafana/chains.json is not what is rendered'])
    const other = { ...board('chains.json'), data: { 'portage-chains.json': '{}' } }
    expect(problems(...boards.slice(1), other)).toEqual(['deploy/grafana/chains.json is not what is rendered'])
    expect(problems(...boards, board('fleet.json', { grafana_dashboard: '0' }))).toHaveLength(1)
  })

  test('the chart has rules and dashboards as links into deploy, which helm package follows', () => {
    for (const [link, folder] of [
      ['rules', 'prometheus'],
      ['dashboards', 'grafana'],
    ])
      expect(readlinkSync(join(root, `deploy/helm/portage/${link}`))).toBe(`../../${folder}`)
  })
})

describe('deploy/helm', () => {
  test('the chart has the version of the package', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string }
    expect(parse(read('deploy/helm/portage/Chart.yaml'))).toMatchObject({ version, appVersion: version })
  })

  test('deploy/helm has values for small, fleet and secured', () => {
    expect(files).toEqual(['fleet.yaml', 'secured.yaml', 'small.yaml'])
  })

  test.each(files)('%s has a config that a process accepts', (file) => {
    const { config: values } = parse(read(`deploy/helm/values/${file}`)) as { config: object }
    const text = JSON.stringify(values)
    const variables = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => [name, 'https://node.example'])
    expect(Object.keys(parseConfig(text, Object.fromEntries(variables) as NodeJS.ProcessEnv, file).chains)).toEqual([
      'ethereum',
      'avalanche',
    ])
  })
})
