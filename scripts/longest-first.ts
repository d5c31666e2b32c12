import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Unit tests first, then all other tests, each part from slow to fast. The list is fixed, because a fresh clone has no
 * measured times.
 */
const longest = [
  'domain/lane.property',
  'chains/evm-answer-memory',
  'fuzz/fuzz',
  'cli/launcher',
  'house/patterns',
  'intake/spy',
  'intake/vaa-lookup',
  'operations/archive/transfers',
  'bridges/native-reverts',
  'api/bad-requests',
  'cli/local',
  'operations/admin/server',
  'faults/crash',
  'e2e/temporal-postgres',
  'faults/sources',
  'e2e/halt',
  'e2e/native-wipe',
  'e2e/stuck',
  'e2e/wormhole-gaps',
  'faults/nodes',
  'faults/chains',
  'e2e/page',
  'e2e/lane-shedding',
  'e2e/native-limits',
  'e2e/cctp',
  'e2e/native-batch',
  'e2e/ntt',
  'workflows/settings.integration',
  'faults/random',
  'e2e/lane-commands',
  'e2e/strangers',
  'e2e/signers',
  'e2e/deadline',
  'faults/unfitting',
  'e2e/secrets',
  'lab/demo',
  'e2e/audit',
  'e2e/blind-nodes',
  'e2e/kinds',
  'e2e/others',
  'e2e/duplicates',
  'lanes/chain-replaced.integration',
  'intake/streams/truth.integration',
  'house/release.integration',
  'e2e/native',
  'temporal/recovery/workflow-recovery.integration',
  'workflows/transfer-leaving.integration',
  'e2e/executor-paid',
  'e2e/terms',
  'e2e/no-cache',
  'e2e/top-ups',
  'e2e/operator',
  'lab/plugins/tutorial.integration',
  'cli/tokens.integration',
  'lanes/batches.integration',
  'lanes/fairness.integration',
  'e2e/operator-transactions',
  'workers/start-order.integration',
  'intake/streams/look-back.integration',
  'intake/streams/placed.integration',
  'e2e/temporal-access',
  'api/submit.integration',
  'lanes/lane-status-cache.integration',
  'e2e/plugins',
  'e2e/fees',
  'lanes/lying-node.integration',
  'lanes/operator-transaction.integration',
  'e2e/receivers',
  'bridges/cctp-evm.integration',
  'operations/notifications/notifications.integration',
  'intake/streams/config-changes.integration',
  'e2e/stream-audit',
  'e2e/wormhole-audit',
  'e2e/wormhole-adopt',
  'e2e/restart',
  'e2e/stream-ends',
  'lanes/agent.integration',
  'lanes/pending-transaction.integration',
  'e2e/page-transfers',
  'api/transfers.integration',
  'bridges/native-evm.integration',
  'intake/streams/scan.integration',
  'e2e/stream-commands',
  'workers/settings-keeper.integration',
].map((name) => `/test/${name}.test.ts`)

/**
 * Runs unit tests before tests with servers. In each part, runs `longest` first, then fault runs and end-to-end tests,
 * so that no long file runs alone at the end.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const groupOf = ({ project }: TestSpecification) => project.config.sequence.groupOrder
    const needsServers = ({ project }: TestSpecification) => (project.name === 'unit' ? 0 : 1)
    const order = (a: TestSpecification, b: TestSpecification) =>
      groupOf(a) - groupOf(b) || needsServers(a) - needsServers(b) || rank(a) - rank(b)
    return (await super.sort(files)).toSorted(order)
  }
}

function rank({ moduleId }: TestSpecification): number {
  const index = longest.findIndex((end) => moduleId.endsWith(end))
  if (index >= 0) return index
  return /\/test\/(faults|e2e)\//.test(moduleId) ? longest.length : longest.length + 1
}
