import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The slowest files, slowest first: of the unit tests, of the others. A fresh clone has no times of an earlier run. */
const longest = [
  'domain/lane.property',
  'intake/vaa-lookup',
  'api/bad-requests',
  'api/access',
  'cli/local',
  'api/http',
  'intake/fetch-signed-vaa',
  'faults/crash',
  'e2e/temporal-postgres',
  'e2e/halt',
  'faults/chains',
  'faults/sources',
  'e2e/lane-shedding',
  'e2e/stuck',
  'faults/random',
  'faults/nodes',
  'e2e/native-limits',
  'e2e/deadline',
  'lanes/chain-replaced.integration',
  'e2e/kinds',
  'e2e/page',
  'e2e/wormhole-gaps',
  'e2e/signers',
  'e2e/native-wipe',
  'faults/unfitting',
  'e2e/strangers',
  'e2e/audit',
  'intake/streams/truth.integration',
  'e2e/others',
  'e2e/native-batch',
  'e2e/lane-commands',
  'e2e/duplicates',
  'temporal/recovery/workflow-recovery.integration',
  'workflows/settings.integration',
  'workflows/transfer-leaving.integration',
  'e2e/blind-nodes',
  'lanes/lane-status-cache.integration',
  'e2e/stream-audit',
  'lanes/operator-transaction.integration',
  'e2e/temporal-access',
  'lanes/lying-node.integration',
  'lab/demo',
  'workers/start-order.integration',
  'e2e/native',
  'e2e/operator',
  'lanes/batches.integration',
  'e2e/wormhole-adopt',
  'e2e/wormhole-audit',
  'e2e/fees',
  'e2e/secrets',
  'bridges/native-evm.integration',
  'api/submit.integration',
  'workers/settings-keeper.integration',
  'e2e/stream-commands',
  'intake/streams/scan.integration',
  'faults/workflows',
  'contract/native-bridge',
  'contract/native-source',
  'intake/streams/config-changes.integration',
].map((name) => `/test/${name}.test.ts`)

/** Runs the longest files first, then whole stages, then the rest: no long file is left to run alone at the end. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const groupOf = ({ project }: TestSpecification) => project.config.sequence.groupOrder
    return (await super.sort(files)).toSorted((a, b) => groupOf(a) - groupOf(b) || rank(a) - rank(b))
  }
}

function rank({ moduleId }: TestSpecification): number {
  const index = longest.findIndex((end) => moduleId.endsWith(end))
  if (index >= 0) return index
  return /\/test\/(faults|e2e)\//.test(moduleId) ? longest.length : longest.length + 1
}
