import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The files that take longest, the longest first. A fresh clone has no times of an earlier run. */
const longest = [
  'faults/crash',
  'e2e/halt',
  'e2e/native-limits',
  'faults/chains',
  'faults/sources',
  'faults/nodes',
  'faults/random',
  'e2e/lane-shedding',
  'e2e/wormhole-gaps',
  'e2e/native-wipe',
  'e2e/blind-nodes',
  'e2e/deadline',
  'e2e/audit',
  'e2e/operator',
  'e2e/others',
  'workers/start-order.integration',
  'recovery/workflow-recovery.integration',
  'lanes/operator-transaction.integration',
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
