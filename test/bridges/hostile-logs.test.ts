import { AbiCoder, concat, dataSlice, id, toBeHex } from 'ethers'
import { describe, expect, test } from 'vitest'
import { nativeBridgeAbi } from '../../bridges/native-bridge/contracts.ts'
import { initiatedTopic, transfersIn } from '../../bridges/native-bridge/events.ts'
import { idOf } from '../../bridges/native-bridge/message.ts'
import { explainRevert } from '../../bridges/native-bridge/reverts.ts'
import { createGuardianSets } from '../../bridges/kit/signed-messages.ts'
import { publishedIn } from '../../bridges/kit/published.ts'
import { tokenBridgeMessages } from '../../lab/devnet/wormhole/token-bridge-messages.ts'
import { explainRevert as explainWormholeRevert } from '../../bridges/wormhole-token-bridge/reverts.ts'
import type { PlacedLog } from '../../chains/port.ts'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import { transferPayload } from '../helpers/vaa.ts'

const coder = AbiCoder.defaultAbiCoder()
const core = `0x${'c0'.repeat(20)}`
const emitter = 'bb'.repeat(20).padStart(64, '0')
const source = { core, sourceChain: 'ethereum', emitterChain: 2, emitter }
const block = { height: 5, hash: `0x${'05'.repeat(32)}` }
const word = (value: bigint) => toBeHex(value, 32)

function chainWith(topics: readonly string[], data: string, timestamp = 1_700_000_000) {
  const log: PlacedLog = { address: core, topics, data, block, index: 0, transactionHash: `0x${'aa'.repeat(32)}` }
  return {
    name: 'ethereum',
    call: () => Promise.reject(new Error('not asked')),
    logs: () => Promise.resolve([log]),
    block: () => Promise.resolve({ ...block, parentHash: block.hash, timestamp } as never),
  }
}

const publishedTopics = [id('LogMessagePublished(address,uint64,uint32,bytes,uint8)'), `0x${emitter}`]
const encoded = (payload: Uint8Array | string) => coder.encode(['uint64', 'uint32', 'bytes', 'uint8'], [7, 0, payload, 1])

async function codeOf(reading: Promise<unknown>): Promise<string> {
  const error: unknown = await reading.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(RelayerError)
  return toRelayerError(error).code
}

const decode = tokenBridgeMessages(new Map([[4, 'bsc']])).decode

describe('the log of a published message', () => {
  const good = encoded(transferPayload({}))
  const read = (data: string, timestamp?: number) =>
    publishedIn(chainWith(publishedTopics, data, timestamp), source, { fromBlock: 0, toBlock: 9 }, { decode, wanted: () => true })

  test('the log of a published message is read as the core contract writes it', async () => {
    expect(await read(good)).toMatchObject([{ number: '7', height: 5, content: { kind: 'transfer', transfer: { sourceId: '2' } } }])
  })

  test.each([
    ['nothing', '0x'],
    ['half a byte', '0xabc'],
    ['truncated logs', dataSlice(good, 0, 100)],
    ['an offset that leads nowhere', concat([dataSlice(good, 0, 64), word(1n << 200n), dataSlice(good, 96)])],
    ['a length that is not there', concat([dataSlice(good, 0, 128), word(1n << 40n), dataSlice(good, 160)])],
    ['a sequence above 64 bits, which ethers would cut to 5', concat([word((1n << 64n) + 5n), dataSlice(good, 32)])],
    ['a consistency above 8 bits', concat([dataSlice(good, 0, 96), word(257n), dataSlice(good, 128)])],
    ['more behind it', concat([good, '0x00'])],
  ])('the log of a published message is refused with a typed error: %s', async (_, data) => {
    expect(await codeOf(read(data))).toBe('NODE_REFUSED')
  })

  test('the log of a published message is refused if the time of its block does not fit into a message', async () => {
    expect(await codeOf(read(good, 2 ** 32))).toBe('NODE_UNAVAILABLE')
  })
})

describe('the log of a native transfer', () => {
  const topics = (transferId: string, initiator: string, recipient: string) => [
    id('BridgeTransferInitiated(bytes32,address,bytes32,uint256,uint256)'),
    transferId,
    ...[initiator, recipient].map((value) => `0x${value.slice(2).padStart(64, '0')}`),
  ]
  test.each([
    ['a nonce above 64 bits, with the id that fits it', (1n << 64n) + 5n],
    ['the highest nonce that there can be is read', (1n << 64n) - 1n],
  ])('%s', async (_, nonce) => {
    const transfer = { initiator: `0x${'11'.repeat(20)}`, recipient: `0x${'22'.repeat(32)}`, amount: 5n, nonce }
    const event = nativeBridgeAbi.encodeEventLog('BridgeTransferInitiated', [
      idOf(transfer),
      transfer.initiator,
      transfer.recipient,
      5n,
      nonce,
    ])
    expect(event.topics.length).toBe(topics('', '', '').length)
    const reading = transfersIn(chainWith(event.topics, event.data), core, initiatedTopic, { fromBlock: 0, toBlock: 9 })
    if (nonce < 1n << 64n) expect(await reading).toMatchObject([{ transfer: { nonce } }])
    else expect(await codeOf(reading)).toBe('NODE_REFUSED')
  })
})

describe('answers and reverts that are badly encoded', () => {
  test('a guardian set with keys above 160 bits is refused with a typed error', async () => {
    const keys = concat([word(32n), word(64n), word(0n), word(1n), word(1n << 200n)])
    const answers: Record<string, string> = { getCurrentGuardianSetIndex: word(0n), getGuardianSet: keys }
    const chain = {
      name: 'bsc',
      call: (_: string, data: string) => Promise.resolve(answers[data.length <= 10 ? 'getCurrentGuardianSetIndex' : 'getGuardianSet']!),
    }
    expect(await codeOf(createGuardianSets(chain, core).get(0))).toBe('NODE_REFUSED')
  })

  test('a text that is no UTF-8 is no text', () => {
    const data = concat(['0x08c379a0', coder.encode(['bytes'], ['0xff'])])
    for (const explain of [explainRevert, explainWormholeRevert])
      expect(explain({ data, reason: 'as the node says' })).toEqual({
        kind: 'unknown',
        code: 'DELIVERY_REVERTED',
        reason: 'as the node says',
      })
  })
})
