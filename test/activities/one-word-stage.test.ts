import { AbiCoder } from 'ethers'
import { expect, test } from 'vitest'
import { createAdmit } from '../../activities/transfer/admit.ts'
import { selectorOf } from '../../bridges/kit/calls.ts'
import { createPluginDecode, createPluginEndpoint, createPluginMessages } from '../../bridges/kit/plugin-bridge.ts'
import { createNtt } from '../../bridges/ntt/ntt.ts'
import type { At, Simulation } from '../../chains/port.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { nttPayload } from '../helpers/ntt.ts'
import { onEveryChain } from '../helpers/on-every-chain.ts'
import { unused } from '../helpers/unused.ts'
import { signVaa } from '../helpers/vaa.ts'
import { inItsRun } from './its-run.ts'

const universal = (digits: string) => digits.repeat(20).padStart(64, '0')
const names = new Map([
  [2, 'ethereum'],
  [4, 'bsc'],
])
const now = 1_800_000_000
const tenYears = 315_360_000n

/** Answers of the target's contracts. */
interface Shown {
  readonly consumed: boolean
  /** Time at which the transfer entered the queue, seconds. Absent: it is not in the queue. */
  readonly since?: number
  readonly seconds?: bigint
  /** The selector of the only call that does not revert. */
  readonly due: string
}

const [receive, complete] = ['receiveMessage(bytes)', 'completeInboundQueuedTransfer(bytes32)'].map(selectorOf) as [string, string]
const sent = { consumed: false, due: receive }
const queued = { consumed: true, since: now - 1_000, seconds: 1_000n, due: complete }

function answerOf({ consumed, since, seconds = 0n }: Shown, data: string): string {
  const coder = AbiCoder.defaultAbiCoder()
  const queue = ['uint72', 'uint64', 'address']
  if (data.startsWith(selectorOf('isVAAConsumed(bytes32)'))) return coder.encode(['bool'], [consumed])
  if (data.startsWith(selectorOf('rateLimitDuration()'))) return coder.encode(['uint64'], [seconds])
  if (data.startsWith(selectorOf('getInboundQueuedTransfer(bytes32)')))
    return coder.encode(queue, since === undefined ? [0, 0, `0x${'0'.repeat(40)}`] : [5, since, `0x${'66'.repeat(20)}`])
  return coder.encode(['bool'], [false])
}

/** Admits a transfer of NTT. The node that is asked first answers `claimed`, and most nodes show `truth`. */
async function admit(transceivers: number, truth: Shown, claimed: Shown) {
  const emitters = ['a1', 'a2'].slice(0, transceivers)
  const peers = {
    ethereum: { manager: universal('77'), transceivers: emitters.map(universal) },
    bsc: { manager: universal('88'), transceivers: emitters.map((_, index) => universal(`b${index + 1}`)) },
  }
  const product = createNtt([{ peers }], names)
  const messages = createPluginMessages(product, names)
  const read: At[] = []
  const call = async (_: string, data: string, at: At) => (read.push(at), answerOf(at === 'latest' ? claimed : truth, data))
  const chain = {
    ...{ name: 'bsc', blockTimeMs: 1_000, heads: { current: undefined }, msToFinality: () => 5_000, call },
    simulate: async ({ data }: Intent): Promise<Simulation> =>
      data.startsWith(truth.due)
        ? { ok: true, gas: '100000' }
        : { ok: false, revert: { data: selectorOf('TransferAlreadyCompleted(bytes32)'), reason: 'completed' } },
    ...{ quote: async () => ({ maxFee: '19', tip: '1', baseFee: '9' }), dataFee: async () => '0' },
    ...{ logs: unused('logs'), transactionSender: unused('transactionSender') },
  }
  const endpoint = createPluginEndpoint(product, messages, { chain, clock: () => now, chainNames: names, verify: async () => {} })
  const { bytes } = signVaa({ emitterChain: 2, emitter: universal('a1'), sequence: 7n, payload: nttPayload() })
  const lanes = ['evm-1:0xa']
  const bridge = { name: 'ntt', decode: unused('decode'), content: unused('content'), endpoints: onEveryChain(endpoint), sources: [] }
  const deps = {
    ...{ bridges: new Map([['ntt', bridge]]), chains: new Map([['bsc', chain]]), settings: () => noSettings, fees: () => ({}) },
    lanes: new Map([['bsc', { statuses: async () => lanes.map((lane) => ({ lane, open: true })), open: async () => lanes, lanes }]]),
    abandonAfterMs: 0,
  }
  const transfer = createPluginDecode(product, messages)(bytes)
  const answer = await inItsRun(createAdmit(deps as never, unused('refuse')))({ transfer, avoid: [], reverted: { calls: 0, gas: 0 } })
  return { answer, read }
}

test.each<[string, Shown, Shown]>([
  ['it says that the transfer is in a queue for years', sent, { ...queued, seconds: tenYears }],
  ['it says that the queue opens at a time that is no date', sent, { ...queued, seconds: 2n ** 64n - 1n }],
  ['it says that the transfer waits until a time that is no date', queued, { ...queued, seconds: 2n ** 64n - 1n }],
  ['it says that other transceivers must attest', sent, { ...sent, consumed: true }],
  ['it hides that the queue has opened', queued, { ...queued, seconds: tenYears }],
  ['it hides the queue, and names the stage that is done', queued, sent],
])('one node of three cannot make an NTT transfer wait: %s', async (_, truth, claimed) => {
  const stage = truth === sent ? 'receive' : 'complete'
  expect((await admit(2, truth, claimed)).answer).toMatchObject({ kind: 'ready', stage })
  expect((await admit(1, truth, claimed)).answer).toMatchObject({ kind: 'ready', stage })
})

test('an NTT transfer waits for the queue that most nodes show', async () => {
  const truth = { ...queued, since: now, due: 'none' }
  expect((await admit(2, truth, truth)).answer).toMatchObject({ kind: 'waiting', code: 'DELIVERY_NOT_DUE' })
  expect((await admit(2, truth, sent)).answer).toMatchObject({ kind: 'waiting', code: 'DELIVERY_NOT_DUE' })
})

test('if the first node names the stage that is due, no other node is asked', async () => {
  for (const truth of [sent, queued]) expect(new Set((await admit(2, truth, truth)).read)).toEqual(new Set(['latest']))
  expect((await admit(1, sent, sent)).read).toEqual([])
})
