import { describe, expect, test } from 'vitest'
import type { SignedSource, Verdict } from '../../../bridges/port.ts'
import { createSourceWithoutNode } from '../../../bridges/kit/emitter-sources.ts'
import { tokenBridgeMessages } from '../../../lab/devnet/wormhole/token-bridge-messages.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { StreamCheckpoint } from '../../../domain/stream/checkpoint.ts'
import { silentLogger } from '../../../observability/logger.ts'
import { createSignedAuditor, probeTail } from '../../../intake/streams/signed/audit/audit.ts'
import type { TemporalClient } from '../../../temporal/client/connection/client.ts'
import { createGapFiller } from '../../../intake/streams/signed/gaps/fill-gaps.ts'
import { isIgnorable } from '../../../intake/streams/signed/gaps/fetch-messages.ts'
import { bootstrapWithoutNode, chainWithoutNode, firstWithoutNode, mayBegin } from '../../../intake/streams/signed/bootstrap.ts'
import { codeOfAsync } from '../../helpers/refusals.ts'
import { unused } from '../../helpers/unused.ts'
import { signVaa, transferPayload } from '../../helpers/vaa.ts'
import { fakeStream } from './fake-context.ts'
import { onEveryChain } from '../../helpers/on-every-chain.ts'
import { ofTokenBridge } from '../../helpers/of-token-bridge.ts'

const emitter = 'ec'.repeat(32)
const own = { emitterChain: 1, emitter, sourceChain: 'wormhole-1', maxOpen: 200 }
const source = (first?: string) => createSourceWithoutNode({ ...own, ...ofTokenBridge(), begins: { first } })
/** A message to chain 2, which is in the config, or to chain 30, which is not. */
const vaa = (sequence: bigint, toChain = 2) => signVaa({ emitterChain: 1, emitter, sequence, payload: transferPayload({ toChain }) }).bytes

/** The stream of a Solana emitter. `has`: whether the servers have a sequence. Even numbers go to chain 2. */
function network(has: (sequence: bigint) => boolean, { first = '1000000', unregistered = [] as readonly string[] } = {}) {
  const { streamClient, requests } = fakeStream(source(first).config)
  const asked: string[] = []
  const started: string[] = []
  const deps = {
    source: createSourceWithoutNode({ ...own, begins: {}, ...ofTokenBridge(new Map(), new Map([['ethereum', {} as never]])) }),
    chain: chainWithoutNode('wormhole-1'),
    bridge: {
      name: 'wormhole-token-bridge' as const,
      decode: tokenBridgeMessages(new Map([[2, 'ethereum']])).decode,
      endpoints: onEveryChain({ verify: async () => ({ kind: 'valid' as const }) }),
    },
    streamClient,
    submitter: {
      submit: async (_: string, message: Uint8Array) => {
        const { sequence } = deps.bridge.decode(message)
        if (unregistered.includes(sequence)) throw new RelayerError('EMITTER_UNKNOWN')
        started.push(sequence)
        return { id: sequence, status: 'started' as const }
      },
    },
    lookup: {
      find: async ({ sequence }: { sequence: string }) => {
        asked.push(sequence)
        const at = BigInt(sequence)
        if (!has(at)) return { kind: 'absent' as const, againInMs: 60_000, why: '' }
        return { kind: 'found' as const, vaa: vaa(at, at % 2n === 0n ? 2 : 30), origin: 'http://guardian', api: 0 }
      },
      held: async () => false,
    },
    logger: silentLogger(),
    rangeBlocks: 100,
    lookBackMs: 0,
    ...{ freshMs: 0, proved: { own: async () => [] }, client: {} as TemporalClient },
  }
  // No target chain shows a delivery.
  Object.assign(deps.source, { delivered: async (all: readonly unknown[]) => all.map(() => false) })
  return { deps, streamClient, requests, asked, started }
}

describe('where the stream of a source without a node begins', () => {
  const checkpoint: StreamCheckpoint = {
    version: 1,
    stream: source().config.stream,
    origin: source().config.origin,
    completedNumber: '7',
    exceptions: [],
  }
  const begin = async (from: SignedSource, kept?: StreamCheckpoint | Error, received?: string) => {
    const read = async () => {
      if (kept instanceof Error) throw kept
      return kept
    }
    const keeper = { read, complain: () => {} }
    const { config, checkpoint: taken } = await bootstrapWithoutNode(from, keeper, () => received)
    return [config.first, taken?.completedNumber]
  }

  test('a stream without a node begins with the config, a checkpoint, or the first received number', async () => {
    expect(await begin(source(), undefined, '1002003')).toEqual(['1002003', undefined])
    expect(await begin(source(), checkpoint, '1002003')).toEqual(['0', '7'])
    expect(await begin(source('5'), undefined, '1002003')).toEqual(['5', undefined])
    expect(await firstWithoutNode(source(), { read: async () => checkpoint, complain: () => {} })).toBe('8')
  })

  test('a stream without a node does not begin before a message, or while its checkpoint is away', async () => {
    expect(await codeOfAsync(() => begin(source()))).toBe('STREAM_NOT_FOUND')
    const away = new RelayerError('CHECKPOINT_UNAVAILABLE')
    expect(await codeOfAsync(() => begin(source(), away, '9'))).toBe('CHECKPOINT_UNAVAILABLE')
    expect(await begin(source('5'), away, '9')).toEqual(['5', undefined])
  })

  test('an old message does not begin a stream without a node', () => {
    const at = 1_700_000_000
    const { bytes } = signVaa({ timestamp: at })
    expect([mayBegin(bytes, (at + 3_599) * 1_000), mayBegin(bytes, (at + 3_601) * 1_000)]).toEqual([true, false])
  })
})

describe('numbers of a source without a node', () => {
  test('the tail of a stream without a node is found at the servers', async () => {
    const { deps, streamClient, started } = network((at) => at < 1_000_040n && at !== 1_000_000n)
    await probeTail(deps, undefined)
    expect(streamClient.view?.next).toBe('1000040')
    // The servers lack the first number, so its gap stays.
    await createGapFiller(deps, 60_000).fillGaps(streamClient.now!, undefined)
    expect(streamClient.now?.gaps).toMatchObject([{ from: '1000000', to: '1000000', state: 'unobserved' }])
    const even = Array.from({ length: 19 }, (_, index) => String(1_000_002 + 2 * index))
    expect(started.toSorted()).toEqual(even)
    expect(streamClient.view).toMatchObject({ open: 19, counts: { ignored: 20 } })
  })

  test('the servers are asked for three numbers, and for none before the stream has begun', async () => {
    const { deps, asked } = network(() => false)
    await probeTail(deps, undefined)
    expect(asked).toEqual(['1000000', '1000001', '1000010'])
    deps.streamClient.now = undefined
    await probeTail(deps, undefined)
    expect(asked).toHaveLength(3)
  })

  test('an audit of a stream that has not begun asks Temporal once, and no server', async () => {
    const { deps, asked } = network(() => true)
    let questions = 0
    const streamClient = { ...deps.streamClient, view: undefined, state: async () => void questions++ }
    const client = unused('client') as never
    const auditor = createSignedAuditor({ ...deps, streamClient, client }, 60_000)
    expect(await auditor.audit()).toMatchObject({ started: 0, delivered: 0, ignored: 0, absent: 0 })
    expect([questions, asked]).toEqual([1, []])
  })

  test('a transfer whose target has not registered the source is ignored', async () => {
    const { deps, streamClient } = network((at) => at < 1_000_001n, { unregistered: ['1000000'] })
    await probeTail(deps, undefined)
    expect(streamClient.view).toMatchObject({ completedNumber: '1000000', gaps: {}, open: 0, counts: { ignored: 1 } })
  })

  test('a number far above all others makes a gap with a limited count of requests', async () => {
    const { deps, streamClient, asked } = network((at) => at === 1_000_003n)
    await streamClient.apply([{ kind: 'seen', numbers: [['1000000'], [String(2n ** 63n)]] }])
    const filler = createGapFiller(deps, 60_000)
    for (let looks = 0; looks < 8; looks++) await filler.fillGaps(streamClient.now!, undefined)
    expect(asked).toContain('1000003')
    expect(new Set(asked).size).toBeLessThan(12_000)
    // The servers were not asked about the middle of the huge gap.
    expect(streamClient.now?.gaps.map(({ from, state }) => [from, state])).toEqual([
      ['1000001', 'unobserved'],
      ['1000004', 'unobserved'],
      ['1005005', 'unasked'],
      [String(2n ** 63n - 5_001n), 'unobserved'],
    ])
  }, 60_000)
})

describe('whether a message that is not for us is signed', () => {
  const verdicts = (given: Readonly<Record<string, Verdict | RelayerError>>) => {
    const judges = Object.keys(given)
    const asked: string[] = []
    const bridge = {
      decode: tokenBridgeMessages(new Map([[2, 'ethereum']])).decode,
      endpoints: new Map(
        Object.entries(given).map(([chain, said]) => {
          const verify = async () => {
            asked.push(chain)
            if (said instanceof Error) throw said
            return said
          }
          return [chain, { verify }]
        }),
      ),
    }
    const ask = () => isIgnorable({ source: { ...source(), withoutNode: { judges } }, bridge: bridge as never }, vaa(1n, 30))
    return { ask, asked }
  }
  const valid: Verdict = { kind: 'valid' }
  const refused: Verdict = { kind: 'rejected', code: 'GUARDIAN_SET_EXPIRED', reason: '' }
  const unknown: Verdict = { kind: 'wait', code: 'GUARDIAN_SET_UNKNOWN', reason: '' }

  test('the first configured chain that can verify a message decides', async () => {
    const down = new RelayerError('NODE_UNAVAILABLE')
    for (const [given, isSigned, chains] of [
      [{ a: valid, b: refused }, true, ['a']],
      [{ a: refused, b: valid }, false, ['a']],
      [{ a: down, b: valid }, true, ['a', 'b']],
      [{ a: unknown, b: refused }, false, ['a', 'b']],
      [{ a: unknown, b: unknown }, false, ['a', 'b']],
    ] as const) {
      const { ask, asked } = verdicts(given)
      expect([await ask(), asked]).toEqual([isSigned, chains])
    }
    expect(await codeOfAsync(verdicts({ a: down, b: down }).ask)).toBe('NODE_UNAVAILABLE')
  })

  test('only the target verifies a transfer to a configured chain', async () => {
    const bridge = { decode: tokenBridgeMessages(new Map([[2, 'ethereum']])).decode, endpoints: new Map() }
    expect(await isIgnorable({ source: source(), bridge: bridge as never }, vaa(1n, 2))).toBe(false)
  })
})
