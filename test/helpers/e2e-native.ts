import { expect } from 'vitest'
import type { CheckResult } from '../../lab/checker/checker.ts'
import { unprovedStreams } from '../../lab/demo/streams.ts'
import { type AnySent } from '../../lab/devnet/sent.ts'
import { until } from '../../lab/devnet/until.ts'
import type { SentNativeTransfer } from '../../lab/devnet/native/native-users.ts'
import type { ChainKey, Stage } from './e2e.ts'

/** Sends `count` native transfers of small amounts, without submitting them. Resolves when they are mined. */
export function sendNatives({ devnet }: Stage, source: ChainKey, count: number): Promise<SentNativeTransfer[]> {
  if (!devnet.native) throw new Error('The stage was started without a native bridge')
  return devnet.native.users[source].send(Array.from({ length: count }, (_, index) => ({ amount: 1000n + BigInt(index) })))
}

export function untilDelivered({ devnet }: Stage, sent: readonly AnySent[], count = sent.length, timeoutMs = 120_000): Promise<unknown> {
  const look = async () => (await devnet.check(sent)).delivered >= count
  return until(look, { timeoutMs, everyMs: 500, what: `${count} of ${sent.length} to be delivered` })
}

/**
 * Expects that each transfer arrived once, and that the streams prove this. `sent` must be everything that users sent.
 */
export async function expectAllProved(stage: Stage, sent: readonly AnySent[]): Promise<CheckResult> {
  await untilDelivered(stage, sent)
  const isProved = async () => (await unprovedStreams({ client: stage.client, sent })).length === 0
  await until(isProved, { timeoutMs: 120_000, everyMs: 500, what: 'the streams to prove all' })
  const check = () => stage.devnet.check(sent)
  const isDrained = async () => (await check()).lanes.every(({ waiting }) => waiting === 0)
  await until(isDrained, { timeoutMs: 120_000, everyMs: 500, what: 'the pools to have nothing of our lanes' })
  const result = await check()
  const { transfers, delivered, lost, duplicates, wrongBalances, foreignCompletions, nonceHoles, wastedTransactions } = result
  expect({ transfers, delivered, lost, duplicates, wrongBalances, foreignCompletions, nonceHoles, wastedTransactions }).toEqual({
    ...{ transfers: sent.length, delivered: sent.length, lost: 0, duplicates: 0, wrongBalances: 0 },
    ...{ foreignCompletions: 0, nonceHoles: 0, wastedTransactions: 0 },
  })
  return result
}
