import type { PortageOptions, PortageProcess } from '../../lab/devnet/portage-process.ts'
import { run } from '../../lab/devnet/run.ts'
import { until } from '../../lab/devnet/until.ts'
import type { Failpoint } from '../../observability/failpoints.ts'
import type { Sent, Stage } from '../helpers/e2e.ts'

/** Updates per run of a ledger: few, so that ledgers continue as new while transfers are pending. */
const updatesPerRun = '5'
const env = { PORTAGE_LANE_UPDATES_PER_RUN: updatesPerRun }

/** Starts a process that dies (`kill`) or stops (`stop`) when it reaches this failpoint for the `at`-th time. */
export function startDoomed(
  stage: Stage,
  failpoint: Failpoint,
  how: 'kill' | 'stop',
  at: number,
  options: PortageOptions = {},
): Promise<PortageProcess> {
  return stage.portage({ ...options, env: { ...env, ...options.env, PORTAGE_FAILPOINTS: `${failpoint}=${how}@${at}` } })
}

export function startSound(stage: Stage, options: PortageOptions = {}): Promise<PortageProcess> {
  return stage.portage({ ...options, env: { ...env, ...options.env } })
}

/** Sends coins, because transfers of coins are never declined. */
export function sendCoins(stage: Stage, count: number): Promise<Sent[]> {
  return stage.send(
    'ethereum',
    Array.from({ length: count }, (_, index) => ({ kind: 'coin' as const, amount: 10n ** 16n + BigInt(index) * 10n ** 12n })),
  )
}

/**
 * Resolves once the failpoint has killed the process. Throws if the failpoint was not reached, or if the process ended
 * differently.
 */
export async function died(stage: Stage, doomed: PortageProcess): Promise<void> {
  await until(() => doomed.ended !== undefined, { timeoutMs: 120_000, what: 'the failpoint to kill its process' })
  if (doomed.ended !== 'ended by SIGKILL') throw new Error(`The process ${doomed.ended}, not by its failpoint: ${doomed.tail()}`)
  await stage.end(doomed, 'SIGKILL')
}

/** Waits until the failpoint has stopped the process (state T of `ps`). */
export async function fellAsleep(doomed: PortageProcess): Promise<void> {
  await until(async () => (await stateOf(doomed)).startsWith('T'), {
    timeoutMs: 120_000,
    what: 'the failpoint to stop its process',
    giveUp: () => doomed.ended,
  })
}

export async function stateOf({ pid }: PortageProcess): Promise<string> {
  const { stdout } = await run('ps', ['-o', 'stat=', '-p', String(pid)])
  return stdout.trim()
}

/** Submits all messages again, because a dead process may not have taken them. */
export async function resubmit(stage: Stage, portage: PortageProcess, sent: readonly Sent[]): Promise<void> {
  await Promise.all(
    sent.map(async (one) => {
      const { status, body } = await stage.submit(portage, await stage.vaa(one))
      if (status !== 200 && status !== 202) throw new Error(`The message ${one.id} was answered with ${status}: ${JSON.stringify(body)}`)
    }),
  )
}
