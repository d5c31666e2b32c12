import { expect } from 'vitest'
import { until } from '../../lab/devnet/until.ts'
import { type LaneState, laneId } from '../../domain/lane/lane.ts'
import { laneStatusQuery } from '../../temporal/contracts/lane.ts'
import { laneWorkflowId } from '../../temporal/contracts/names.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import type { Sent, Stage } from '../helpers/e2e.ts'

/** Number of the transfers that have not ended. A crash proves something only if this is above 0. */
export async function inFlight(stage: Stage, sent: readonly Sent[]): Promise<number> {
  const running = await Promise.all(
    sent.map(({ id }) =>
      stage.client.workflow
        .getHandle(id)
        .describe()
        .then(({ status }) => status.name === 'RUNNING')
        // The dead process had not taken the message from the spy, so the transfer has not ended.
        .catch(() => true),
    ),
  )
  return running.filter(Boolean).length
}

/**
 * Expects that our lane has redeemed each transfer once, with as many transactions as transfers, and that nothing is
 * left running, in the pool or in the ledger.
 */
export async function allDeliveredOnce(stage: Stage, sent: readonly Sent[] = stage.sent, timeoutMs = 150_000): Promise<void> {
  const ends = await stage.outcomes(sent, timeoutMs)
  expect(ends.map(({ state, delivery }) => [state, delivery?.ours])).toEqual(sent.map(() => ['delivered', true]))
  const result = await expectDelivered(stage)
  expect(result.lanes.flatMap(({ revertedHashes }) => revertedHashes)).toEqual([])
  expect(result).toMatchObject({ nonceHoles: 0, revertedTransactions: 0 })
  const [lane] = result.lanes.filter(({ chain }) => chain === 'bsc')
  expect(lane?.transactions).toBe(stage.sent.length)
  expect(await running(stage)).toEqual([])
  const ledger = await settledLedger(stage)
  expect(ledger).toMatchObject({ next: stage.sent.length, entries: {}, counts: { external: 0, filled: 0 } })
}

async function running({ client }: Stage): Promise<string[]> {
  const list = async () => {
    const ids: string[] = []
    for await (const { workflowId } of client.workflow.list({ query: "WorkflowType = 'transfer' AND ExecutionStatus = 'Running'" }))
      ids.push(workflowId)
    return ids
  }
  await until(async () => (await list()).length === 0, { timeoutMs: 60_000, what: 'the list of running transfers to be empty' }).catch(
    () => {},
  )
  return list()
}

function settledLedger(stage: Stage): Promise<LaneState> {
  const key = stage.devnet.lanes.find(({ chain }) => chain === 'bsc')
  const handle = stage.client.workflow.getHandle(laneWorkflowId(laneId('evm', stage.devnet.chains.bsc.anvil.chainId, key?.address ?? '')))
  const look = async () => {
    const state = await handle.query(laneStatusQuery)
    return Object.keys(state.entries).length === 0 && state
  }
  return until(look, { timeoutMs: 90_000, everyMs: 250, what: 'all nonces of the ledger to be final' })
}
