import { AbiCoder, id, toBeHex } from 'ethers'
import { describe, expect, test } from 'vitest'
import { nativeBridgeAbi } from '../../bridges/native-bridge/contracts.ts'
import { completedTopic, transfersIn } from '../../bridges/native-bridge/events.ts'
import { completionArguments, idOf } from '../../bridges/native-bridge/message.ts'
import { createNativeSource } from '../../bridges/native-bridge/streams.ts'
import { publishedIn } from '../../bridges/kit/published.ts'
import type { At, LogRange, PlacedLog } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { tokenBridgeMessages } from '../../lab/devnet/wormhole/token-bridge-messages.ts'
import { transferPayload } from '../helpers/vaa.ts'

const bridge = `0x${'11'.repeat(20)}`
const word = (digits: string) => `0x${digits.repeat(32)}`
const block = { height: 5, hash: word('05') }
const range = { fromBlock: 0, toBlock: 9 }

const fields = { initiator: `0x${'33'.repeat(20)}`, recipient: `0x${'00'.repeat(12)}${'44'.repeat(20)}`, amount: 5n, nonce: 1n }
const transfer = { ...fields, id: idOf(fields) }

const logOf = (event: Pick<PlacedLog, 'topics' | 'data'>): PlacedLog => ({
  ...{ address: bridge, block, index: 0, transactionHash: word('aa') },
  ...event,
})
const initiated = logOf(
  nativeBridgeAbi.encodeEventLog('BridgeTransferInitiated', [transfer.id, fields.initiator, fields.recipient, 5n, 1n]),
)
const completed = logOf(nativeBridgeAbi.encodeEventLog('BridgeTransferCompleted', [...completionArguments(transfer)]))

/** A chain one of whose nodes shows the logs `shown`, and whose other nodes show the logs `most`. */
function chainWith(shown: readonly PlacedLog[], most: readonly PlacedLog[]) {
  const asked: (string | undefined)[] = []
  return {
    asked,
    name: 'a',
    networkId: '1',
    call: (): Promise<string> => Promise.reject(new Error('not asked')),
    async logs(_: LogRange, at?: string) {
      asked.push(at)
      return at === undefined ? shown : most
    },
  }
}

type Call = (to: string, data: string, at: At) => Promise<string>

function sourceOf(chain: ReturnType<typeof chainWith>, call: Call = chain.call) {
  const route = { sourceChain: 'a', sourceNetworkId: '1', sourceBridge: bridge, targetChain: 'b', targetBridge: bridge }
  const reader = { ...chain, call }
  return createNativeSource({ route, source: reader, target: reader, startBlock: 0, maxOpen: 10, verified: { add() {} } })
}

describe('a native bridge one of whose nodes lies', () => {
  test.each([
    ['of another contract', { ...completed, address: `0x${'99'.repeat(20)}` }],
    ['of a block outside the range', { ...completed, block: { ...block, height: 10 } }],
    ['that is malformed', { ...completed, data: `${completed.data}00` }],
    ['with an id that does not fit', { ...completed, topics: completed.topics.with(1, word('55')) }],
  ])('the logs of most nodes are read after one node showed a log %s', async (_, stray) => {
    const chain = chainWith([stray], [completed])
    expect(await transfersIn(chain, bridge, completedTopic, range)).toMatchObject([{ transfer }])
    expect(chain.asked).toEqual([undefined, 'majority'])
    const all = chainWith([stray], [stray])
    await expect(transfersIn(all, bridge, completedTopic, range)).rejects.toBeInstanceOf(RelayerError)
    expect(all.asked).toEqual([undefined, 'majority'])
  })

  test('a native source reads initiated transfers from most nodes, and asks one node whether there are any', async () => {
    const none = chainWith([], [initiated])
    expect(await sourceOf(none).initiated(range)).toEqual([])
    expect(none.asked).toEqual([undefined])
    const invented = chainWith([initiated], [])
    expect(await sourceOf(invented).initiated(range)).toEqual([])
    expect(invented.asked).toEqual([undefined, 'majority'])
    const honest = chainWith([initiated], [initiated])
    expect(await sourceOf(honest).initiated(range)).toMatchObject([{ height: 5, transfer: { sequence: '1', digest: transfer.id } }])
  })

  test('the count of a native source is that of most nodes, even if one node has an entry for every nonce', async () => {
    const entry = (isThere: boolean) =>
      nativeBridgeAbi.encodeFunctionResult('noncesToOutboundTransfers', [
        isThere ? word('77') : word('00'),
        fields.initiator,
        fields.recipient,
        5n,
      ])
    let calls = 0
    const call: Call = async (_, data, at) => {
      calls++
      return entry(at !== 'agreed' || (BigInt(`0x${data.slice(10)}`) <= 70n && BigInt(`0x${data.slice(10)}`) > 0n))
    }
    expect(await sourceOf(chainWith([], []), call).highest('3')).toBe('70')
    expect(calls).toBeLessThan(200)
  })
})

describe('published messages one of whose source nodes lies about blocks', () => {
  const emitter = 'bb'.repeat(20).padStart(64, '0')
  const topics = [id('LogMessagePublished(address,uint64,uint32,bytes,uint8)'), `0x${emitter}`]
  const data = AbiCoder.defaultAbiCoder().encode(['uint64', 'uint32', 'bytes', 'uint8'], [7, 0, transferPayload({}), 1])
  const source = { core: bridge, sourceChain: 'a', emitterChain: 2, emitter }
  const header = { ...block, parentHash: word('04'), timestamp: 1_700_000_000 }
  const { decode } = tokenBridgeMessages(new Map([[4, 'bsc']]))

  test.each([
    ['has no block', undefined],
    ['shows another block', { ...header, hash: word('06') }],
    ['shows a false time', { ...header, timestamp: 1 }],
  ])('the time of a message that most nodes show comes from most nodes: one node %s', async (_, shown) => {
    const chain = {
      ...chainWith([], [logOf({ topics, data })]),
      block: async (_height: number, at: string) => (at === 'latest' ? shown : header),
    }
    const [one] = await publishedIn(chain, source, range, { decode, at: 'agreed' })
    const { content } = one ?? {}
    if (content?.kind !== 'transfer') throw new Error('the message is not read')
    const message = Buffer.from(content.transfer.message, 'base64').toString('hex')
    expect(message).toContain(toBeHex(header.timestamp, 4).slice(2))
  })

  test('the time of a message is refused if most nodes show another block than its logs', async () => {
    const chain = { ...chainWith([], [logOf({ topics, data })]), block: async () => ({ ...header, hash: word('06') }) }
    await expect(publishedIn(chain, source, range, { decode, at: 'majority' })).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
  })
})
