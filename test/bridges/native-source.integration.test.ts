import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callsOf } from '../helpers/node-calls.ts'
import { nativeBridgeAbi, readInboundNonce } from '../../bridges/native-bridge/contracts.ts'
import { findDelivery, type LogReader } from '../../bridges/kit/logs.ts'
import { completedTopic, completionLog, initiatedTopic, transfersIn } from '../../bridges/native-bridge/events.ts'
import { batchIntent } from '../../bridges/native-bridge/calls.ts'
import { createEvmEndpoint } from '../../bridges/native-bridge/evm.ts'
import { createVerifiedMessages } from '../../bridges/kit/verified-messages.ts'
import { idOf, type NativeTransfer, writeMessage } from '../../bridges/native-bridge/message.ts'
import { createNativeSource, highestNonce, recordedUnder } from '../../bridges/native-bridge/streams.ts'
import { freshAddress } from '../../lab/devnet/chain/accounts.ts'
import type { NativeBridgeVariant } from '../../lab/devnet/native/native-bridge.ts'
import { type NativeBridgeNetwork, startNativeBridge } from '../helpers/native-bridge.ts'
import { codeOfAsync } from '../helpers/refusals.ts'

/**
 * Maximum number of calls for these reads. A call has room for 100 reads, but if the machine pauses, the reads are
 * spread over more calls.
 */
const fewCalls = ({ length }: readonly unknown[]) => length / 10

describe.each<NativeBridgeVariant>(['strict', 'fixed'])('streams of the %s native bridge on real chains', (variant) => {
  let network: NativeBridgeNetwork
  let started: NativeTransfer[]
  let range: { fromBlock: number; toBlock: number }
  beforeAll(async () => {
    network = await startNativeBridge(variant)
    const from = network.source.chain.heads.current?.latest.height ?? 0
    const found = await network.start(...Array.from({ length: 110 }, (_, index) => BigInt(index + 1)))
    started = found.map(({ id, nonce, initiator, recipient, amount }) => ({ id, nonce, initiator, recipient, amount }))
    await network.source.finalise()
    range = { fromBlock: from + 1, toBlock: network.source.chain.heads.current?.latest.height ?? 0 }
  })
  afterAll(() => network?.stop())

  test('the native source finds the transfers of a range in order, and none outside it', async () => {
    const { chain, bridge } = network.source
    const events = await transfersIn(chain, bridge, initiatedTopic, range)
    expect(events.map(({ transfer }) => transfer)).toEqual(started)
    expect(events[0]).toMatchObject({ txHash: expect.stringMatching(/^0x[0-9a-f]{64}$/), block: { height: expect.any(Number) } })
    expect(await transfersIn(chain, bridge, initiatedTopic, { fromBlock: 0, toBlock: range.fromBlock - 1 })).toEqual([])
    expect(await transfersIn(chain, bridge, completedTopic, range)).toEqual([])
  })

  test('the native source reads the table, where a node can hide no log', async () => {
    const { chain, bridge } = network.source
    const nonces = [...started.map(({ nonce }) => nonce), 0n, 111n]
    const before = callsOf(chain, 'eth_call')
    expect(await recordedUnder(chain, bridge, nonces, 'finalized')).toEqual([...started, undefined, undefined])
    expect(callsOf(chain, 'eth_call') - before).toBeLessThanOrEqual(fewCalls(nonces))
  })

  test('transfers that a stream has read by quorum are verified without asking a node again', async () => {
    const { source, target, route } = network
    const counted = async (work: () => Promise<unknown>) => {
      const before = callsOf(source.chain, 'eth_call')
      await work()
      return callsOf(source.chain, 'eth_call') - before
    }
    const verified = createVerifiedMessages()
    const endpoint = createEvmEndpoint({ chain: target.chain, routes: [{ ...route, source: source.chain }], verified })
    const stream = createNativeSource({ route, source: source.chain, target: target.chain, startBlock: 0, maxOpen: 100, verified })
    const messages = started.map((one) => writeMessage({ ...one, sourceNetworkId: 1337n, sourceBridge: source.bridge }))
    const verify = () => Promise.all(messages.map((message) => endpoint.verify(message)))
    const numbers = started.map(({ nonce }) => String(nonce))
    expect(await counted(() => stream.recorded(numbers, 'finalized'))).toBeLessThanOrEqual(fewCalls(numbers))
    // A lone node must answer twice, one block apart.
    expect(await counted(() => stream.recorded(numbers, 'agreed'))).toBeLessThanOrEqual(2 * fewCalls(numbers))
    expect(await counted(verify)).toBe(0)
    expect(new Set((await verify()).map(({ kind }) => kind))).toEqual(new Set(['valid']))
  })

  test('the native source finds the highest nonce from any known one, with one call if none is above', async () => {
    const { chain, bridge } = network.source
    const counted = async (known: bigint) => {
      const before = callsOf(chain, 'eth_call')
      const highest = await highestNonce(chain, bridge, known)
      return { highest, reads: callsOf(chain, 'eth_call') - before }
    }
    expect(await counted(110n)).toEqual({ highest: 110n, reads: 1 })
    for (const known of [0n, 1n, 63n, 64n, 109n]) {
      const { highest, reads } = await counted(known)
      expect([known, highest]).toEqual([known, 110n])
      expect(reads).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(Number(110n - known) + 1)) + 2)
    }
    expect(await highestNonce(network.target.chain, network.target.bridge)).toBe(0n)
  })

  test('the native source shows the finalized table, without transfers that a reorg may remove', async () => {
    const { chain, bridge } = network.source
    await network.start(5n)
    expect([await highestNonce(chain, bridge, 110n), await highestNonce(chain, bridge, 110n, 'latest')]).toEqual([110n, 111n])
  })

  test("the native source finds everybody's completions, in batches or not, and the completed ids", async () => {
    const { chain, bridge } = network.target
    const from = (chain.heads.current?.latest.height ?? 0) + 1
    const [one, two, three] = started as [NativeTransfer, NativeTransfer, NativeTransfer]
    const receipt = await network.deliver(batchIntent(bridge, [two, one]))
    await network.target.admin('completeBridgeTransfer', argumentsOf(three))
    const found = await transfersIn(chain, bridge, completedTopic, { fromBlock: from, toBlock: chain.heads.current?.latest.height ?? from })
    expect(found.map(({ transfer }) => transfer)).toEqual([two, one, three])
    expect(found[0]).toMatchObject({ txHash: receipt.hash, block: receipt.block })
    const completedUnder = (at: 'latest' | 'finalized') => Promise.all(started.map(({ id }) => readInboundNonce(chain, bridge, id, at)))
    expect(await completedUnder('latest')).toEqual(started.map((_, index) => (index < 3 ? BigInt(index + 1) : 0n)))
    expect(await completedUnder('finalized')).toEqual(started.map(() => 0n))
    await network.target.finalise()
    expect((await completedUnder('finalized')).filter((nonce) => nonce > 0n)).toEqual([1n, 2n, 3n])
  })

  test('the native source finds the deliverer in ranges of any size, but searches only recent blocks', async () => {
    const { chain, bridge, deployer } = network.target
    const three = started[2]!
    await network.target.mine(5)
    expect(await findDelivery(chain, completionLog(bridge, three), { rangeBlocks: 2 })).toMatchObject({ by: deployer.address })
    expect(await findDelivery(chain, completionLog(bridge, three), { rangeBlocks: 2, depthBlocks: 2 })).toBeUndefined()
    expect(await findDelivery(chain, completionLog(bridge, { ...three, nonce: 9n }))).toBeUndefined()
    expect(await findDelivery(chain, completionLog(bridge, started[5]!))).toBeUndefined()
  })
})

describe('answers that a node may not give', () => {
  const bridge = freshAddress()
  const fields = { initiator: freshAddress(), recipient: `0x${'0'.repeat(24)}${freshAddress().slice(2)}`, amount: 5n, nonce: 1n }
  const transfer = { ...fields, id: idOf(fields) }
  const logOf = ({ id, initiator, recipient, amount, nonce }: NativeTransfer) => ({
    ...nativeBridgeAbi.encodeEventLog('BridgeTransferInitiated', [id, initiator, recipient, amount, nonce]),
    address: bridge,
    block: { height: 7, hash: `0x${'b1'.repeat(32)}` },
    index: 0,
    transactionHash: `0x${'70'.repeat(32)}`,
  })
  /** A reader that returns these logs, which no real node would return. */
  const saying = (...logs: ReturnType<typeof logOf>[]): LogReader => ({
    name: 'source',
    call: () => Promise.reject(new Error('not asked')),
    logs: () => Promise.resolve(logs),
  })
  const scan = (log: ReturnType<typeof logOf>) =>
    codeOfAsync(() => transfersIn(saying(log), bridge, initiatedTopic, { fromBlock: 5, toBlock: 9 }))

  test('a log of another contract, block or event, or of no event, is refused', async () => {
    const good = logOf(transfer)
    expect(await scan(good)).toBe('none')
    expect(await scan({ ...good, address: freshAddress() })).toBe('NODE_REFUSED')
    for (const height of [4, 10]) expect(await scan({ ...good, block: { ...good.block, height } })).toBe('NODE_REFUSED')
    expect(await scan({ ...good, topics: [`0x${'11'.repeat(32)}`, ...good.topics.slice(1)] })).toBe('NODE_REFUSED')
    expect(await scan({ ...good, data: good.data.slice(0, 66) })).toBe('NODE_REFUSED')
    expect(await scan({ ...good, topics: [] })).toBe('NODE_REFUSED')
  })

  test('a log with an id that is not the hash of the other fields is refused', async () => {
    expect(await scan(logOf({ ...transfer, amount: 6n }))).toBe('NATIVE_ID_MISMATCH')
  })

  test('a wrong id halts the route only if the table of most nodes has it too', async () => {
    const forged = { ...transfer, amount: 6n }
    const route = { sourceChain: 'a', sourceNetworkId: '1', sourceBridge: bridge, targetChain: 'b', targetBridge: bridge }
    const codeWhere = (entry: NativeTransfer, at?: 'agreed') => {
      const values = [entry.id, entry.initiator, entry.recipient, entry.amount]
      const reader = {
        ...saying(logOf(forged)),
        networkId: '1',
        call: () => Promise.resolve(nativeBridgeAbi.encodeFunctionResult('noncesToOutboundTransfers', values)),
      }
      const source = createNativeSource({
        route,
        source: reader,
        target: reader,
        startBlock: 0,
        maxOpen: 1,
        verified: createVerifiedMessages(),
      })
      return codeOfAsync(() => source.initiated({ fromBlock: 5, toBlock: 9 }, at))
    }
    expect(await codeWhere(transfer)).toBe('NATIVE_ID_MISMATCH')
    expect(await codeWhere(transfer, 'agreed')).toBe('NODES_DISAGREE')
    expect(await codeWhere(forged, 'agreed')).toBe('NATIVE_ID_MISMATCH')
  })

  test('wrong answers do not mislead the search for the highest nonce, whatever this nonce is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.bigInt(0n, 10n ** 9n), fc.bigInt(0n, 10n ** 9n), async (highest, below) => {
        const table: LogReader = {
          ...saying(),
          call: (_, data) => {
            const nonce = nativeBridgeAbi.decodeFunctionData('noncesToOutboundTransfers', data)[0] as bigint
            const values = nonce > 0n && nonce <= highest ? [transfer.id, transfer.initiator, transfer.recipient, 5n] : empty
            return Promise.resolve(nativeBridgeAbi.encodeFunctionResult('noncesToOutboundTransfers', values))
          },
        }
        expect(await highestNonce(table, bridge, below > highest ? highest : below)).toBe(highest)
      }),
      { numRuns: 30 },
    )
  })
})

const empty = [`0x${'0'.repeat(64)}`, `0x${'0'.repeat(40)}`, `0x${'0'.repeat(64)}`, 0n]

function argumentsOf({ id, initiator, recipient, amount, nonce }: NativeTransfer): unknown[] {
  return [id, `${initiator}${'0'.repeat(24)}`, `0x${recipient.slice(26)}`, amount, nonce]
}
