/**
 * Renders the Helm chart with each file of deploy/helm/values, and with its defaults, which the chart must refuse.
 * Checks the documents against the code, and against the API schemas of the oldest Kubernetes, the newest Kubernetes
 * and KEDA. Prints NOT RUN without Helm or the validator.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments } from 'yaml'
import { run } from '../lab/devnet/run.ts'
import type { Document } from './helm/documents.ts'
import { findHelm } from './helm/find.ts'
import { monitoringProblems } from './helm/monitoring.ts'
import { problemsOf } from './helm/rules.ts'
import { pythonTool } from './python-tool.ts'

const validatorVersion = '1.37.0'
/** The chart's oldest Kubernetes (kubeVersion), and the newest whose schemas the validator has. */
const [oldest, newest] = ['1.29', '1.37']
const root = fileURLToPath(new URL('..', import.meta.url))
const chart = join(root, 'deploy/helm/portage')
const values = join(root, 'deploy/helm/values')

/** A Helm that `go install` built does not know a version of Kubernetes, so this option names one. */
const of = ['portage', chart, '--kube-version', oldest]

/** Options of Helm for one receiver of notifications, whose secret is in this file. */
function receiverWith(secretFile: string): readonly string[] {
  return ['--set', `config.notifications[0].name=books,config.notifications[0].secrets[0].secretFile=${secretFile}`]
}

/** Values that the chart must refuse, each with a part of the error. */
const refused: readonly (readonly [string, string, readonly string[]])[] = [
  ['no config', 'config.chains is empty', []],
  ['a chain that the config lacks', 'is not in config.chains', ['--set', 'chains[0].name=nowhere']],
  ['a lane that the config lacks', 'has no lane', ['--set', 'lanes[0].address=0x00000000000000000000000000000000000000ff']],
  ['two lanes with one secret', 'each lane has its own', ['--set', 'lanes[1].secret=portage-lane-ethereum-1']],
  ['an API key without a secret', 'temporal.credentialsSecret is empty', ['--set', 'temporal.apiKey=true']],
  ['a webhook secret without a Secret', 'ledger.notificationsSecret is empty', receiverWith('/run/secrets/portage/notifications/books')],
  ['a webhook secret elsewhere', 'is not in /run/secrets', [...receiverWith('/etc/books'), '--set', 'ledger.notificationsSecret=hooks']],
  [
    'a payload key without a Secret',
    'temporal.payloadKeysSecret is empty',
    ['--set', 'config.temporal.encryption.keys[0].id=a,config.temporal.encryption.keys[0].keyFile=/run/secrets/portage/payload-keys/a'],
  ],
  [
    'a payload key elsewhere',
    'is not in /run/secrets',
    ['--set', 'config.temporal.encryption.keys[0].keyFile=/etc/a,temporal.payloadKeysSecret=payload-keys'],
  ],
  ['a secret for an unknown role', 'environmentsecrets', ['--set', 'environmentSecrets[0].name=a,environmentSecrets[0].roles[0]=all']],
  ['an unknown value', 'additional propert', ['--set', 'replicaCount=3']],
]

async function render(helm: string, file: string): Promise<{ documents: Document[]; problems: string[] }> {
  const { code, stdout, stderr } = await run(helm, ['template', ...of, '--namespace', 'portage', '--values', file])
  if (code !== 0) return { documents: [], problems: [stderr.trim()] }
  const documents = parseAllDocuments(stdout).flatMap((one) => {
    if (!('toJS' in one)) return []
    const document = one.toJS() as Document | null
    return document ? [document] : []
  })
  const lint = await run(helm, ['lint', chart, '--strict', '--quiet', '--kube-version', oldest, '--values', file])
  return {
    documents,
    problems: [
      ...problemsOf(documents),
      ...monitoringProblems(documents, join(root, 'deploy')),
      ...(lint.code === 0 ? [] : [lint.stdout + lint.stderr]),
    ],
  }
}

async function validate(bin: string, documents: readonly Document[]): Promise<string[]> {
  const crds: unknown = JSON.parse(await readFile(join(root, 'test/deploy/fixtures/crds.json'), 'utf8'))
  const input = JSON.stringify({ versions: [oldest, newest], crds, documents })
  const { status, stdout, stderr } = spawnSync(join(bin, 'python'), [join(root, 'scripts/helm/validate.py')], { input, encoding: 'utf8' })
  return status === 0 ? (JSON.parse(stdout) as string[]) : [stderr]
}

/** A line for each set of values that the chart did not refuse, or refused for another reason. */
async function accepted(helm: string): Promise<string[]> {
  const small = ['--values', join(values, 'small.yaml')]
  const answers = await Promise.all(
    refused.map(async ([what, says, set]) => {
      const { code, stderr } = await run(helm, ['template', ...of, ...(set.length > 0 ? small : []), ...set])
      return code !== 0 && stderr.toLowerCase().includes(says.toLowerCase()) ? [] : [`${what} was not refused: ${stderr.trim()}`]
    }),
  )
  return answers.flat()
}

async function main(): Promise<number> {
  const [{ helm, why }, validator] = await Promise.all([findHelm(process.env), pythonTool('kubernetes-validate', validatorVersion)])
  if (helm === undefined || 'why' in validator) {
    console.log(`NOT RUN: the check of the Helm chart: ${why ?? ('why' in validator ? validator.why : '')}`)
    return 0
  }
  const found = await accepted(helm)
  for (const file of (await readdir(values)).toSorted()) {
    const { documents, problems } = await render(helm, join(values, file))
    const all = [...problems, ...(await validate(validator.bin, documents))]
    const kinds = new Set(documents.map(({ kind }) => kind)).size
    console.log(`${file}: ${documents.length} documents of ${kinds} kinds, ${all.length} problems`)
    found.push(...all.map((problem) => `${file}: ${problem}`))
  }
  for (const problem of found) console.error(problem)
  return found.length === 0 ? 0 : 1
}

process.exitCode = await main()
