import { expect } from 'vitest'
import type { PortageOptions, PortageProcess } from '../../devnet/portage.ts'
import { run } from '../../devnet/run.ts'
import { until } from '../../devnet/until.ts'
import type { LaneState } from '../../domain/lane.ts'
import { laneId } from '../../domain/lane-id.ts'
import type { Failpoint } from '../../observability/failpoints.ts'
import { laneStatusQuery } from '../../temporal/messages.ts'
import { laneWorkflowId } from '../../temporal/names.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import type { Sent, Stage } from '../helpers/e2e.ts'

/** Updates per run of a ledger: so few that every case has ledgers that continue as new while transfers are on their way. */
const updatesPerRun = '5'
const env = { PORTAGE_LANE_UPDATES_PER_RUN: updatesPerRun }

/** A process that dies (`kill`) or stops (`stop`) when it comes to this failpoint for the `at`-th time. */
export function startDoomed(stage: Stage, failpoint: Failpoint, how: 'kill' | 'stop', at: number, options: PortageOptions = {}): Promise<PortageProcess> {
  return stage.portage({ ...options, env: { ...env, PORTAGE_FAILPOINTS: `${failpoint}=${how}@${at}` } })
}

/** A process without failpoints. */
export function startSound(stage: Stage, options: PortageOptions = {}): Promise<PortageProcess> {
  return stage.portage({ ...options, env })
}

/** Users' transfers from ethereum to bsc: of coins, so that none is declined. */
export function sendCoins(stage: Stage, count: number): Promise<Sent[]> {
  return stage.send('ethereum', Array.from({ length: count }, (_, index) => ({ kind: 'coin' as const, amount: 10n ** 16n + BigInt(index) * 10n ** 12n })))
}

/** Waits until the failpoint has killed the process. Throws if it has not fired, or if the process ended in another way. */
export async function died(stage: Stage, doomed: PortageProcess): Promise<void> {
  await until(() => doomed.ended !== undefined, { timeoutMs: 60_000, what: 'the failpoint to kill its process' })
  expect(doomed.ended).toBe('ended by SIGKILL')
  await stage.end(doomed, 'SIGKILL')
}

/** Waits until the failpoint has stopped the process (state T of `ps`). */
export async function fellAsleep(doomed: PortageProcess): Promise<void> {
  await until(async () => (await stateOf(doomed)).startsWith('T'), {
    timeoutMs: 60_000,
    what: 'the failpoint to stop its process',
    giveUp: () => doomed.ended,
  })
}

export async function stateOf({ pid }: PortageProcess): Promise<string> {
  const { stdout } = await run('ps', ['-o', 'stat=', '-p', String(pid)])
  return stdout.trim()
}

/** How many of these transfers have not ended. A crash that found nothing in flight would prove nothing. */
export async function inFlight(stage: Stage, sent: readonly Sent[]): Promise<number> {
  const running = await Promise.all(
    sent.map(({ id }) =>
      stage.client.workflow
        .getHandle(id)
        .describe()
        .then(({ status }) => status.name === 'RUNNING')
        // What the dead process had not taken from the spy: on its way too.
        .catch(() => true),
    ),
  )
  return running.filter(Boolean).length
}

/** Hands a process all messages again, as the guardian's API would: what the dead one had not taken starts now, the rest is known. */
export async function resubmit(stage: Stage, portage: PortageProcess, sent: readonly Sent[]): Promise<void> {
  await Promise.all(
    sent.map(async (one) => {
      const { status, body } = await stage.submit(portage, await stage.vaa(one))
      expect([200, 202], JSON.stringify(body)).toContain(status)
    }),
  )
}

/**
 * Each transfer ended as delivered by our lane; the independent checker finds each redeemed once, every nonce used, and as many transactions
 * of the lane as transfers: no call twice, no no-op. Nothing is left running, in the pool or in the ledger.
 */
export async function allDeliveredOnce(stage: Stage, sent: readonly Sent[] = stage.sent, timeoutMs = 90_000): Promise<void> {
  const ends = await stage.outcomes(sent, timeoutMs)
  expect(ends.map(({ state, delivery }) => [state, delivery?.ours])).toEqual(sent.map(() => ['delivered', true]))
  const result = await expectDelivered(stage)
  expect(result).toMatchObject({ nonceHoles: 0, revertedTransactions: 0 })
  const [lane] = result.lanes.filter(({ chain }) => chain === 'bsc')
  expect(lane?.transactions).toBe(stage.sent.length)
  expect(await running(stage)).toEqual([])
  const ledger = await settledLedger(stage)
  expect(ledger).toMatchObject({ next: stage.sent.length, entries: {}, counts: { foreign: 0, filled: 0 } })
}

async function running({ client }: Stage): Promise<string[]> {
  const list = async () => {
    const ids: string[] = []
    for await (const { workflowId } of client.workflow.list({ query: "WorkflowType = 'transfer' AND ExecutionStatus = 'Running'" })) ids.push(workflowId)
    return ids
  }
  // The list trails behind the workflows.
  await until(async () => (await list()).length === 0, { timeoutMs: 10_000, what: 'the list of running transfers to be empty' }).catch(() => {})
  return list()
}

/** The ledger of bsc's lane, when all its nonces are final. */
function settledLedger(stage: Stage): Promise<LaneState> {
  const key = stage.devnet.lanes.find(({ chain }) => chain === 'bsc')
  const handle = stage.client.workflow.getHandle(laneWorkflowId(laneId('evm', stage.devnet.chains.bsc.anvil.chainId, key?.address ?? '')))
  const look = async () => {
    const state = await handle.query(laneStatusQuery)
    return Object.keys(state.entries).length === 0 && state
  }
  return until(look, { timeoutMs: 30_000, everyMs: 250, what: 'all nonces of the ledger to be final' })
}
