import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nativeBridgeAbi } from '../../bridges/native-bridge/contracts.ts'
import { argumentsOf, completedTopic, initiatedTopic } from '../../bridges/native-bridge/events.ts'
import { codeOf } from '../helpers/refusals.ts'

const hex = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((one) => `0x${Buffer.from(one).toString('hex')}`)
const events = fc.oneof(
  fc.tuple(fc.constant([initiatedTopic, 'BridgeTransferInitiated'] as const), hex(32), hex(20), hex(32)),
  fc.tuple(fc.constant([completedTopic, 'BridgeTransferCompleted'] as const), hex(32), hex(32), hex(20)),
)

test('logs of both events are read as ethers reads them, whatever their case', () => {
  fc.assert(
    fc.property(events, fc.bigInt(0n, 2n ** 256n - 1n), fc.bigInt(0n, 2n ** 64n - 1n), fc.boolean(), (event, amount, nonce, upper) => {
      const [[topic, name], id, from, to] = event
      const { topics, data } = nativeBridgeAbi.encodeEventLog(name, [id, from, to, amount, nonce])
      const shout = (text: string) => (upper ? `0x${text.slice(2).toUpperCase()}` : text)
      expect(argumentsOf({ topics: topics.map(shout), data: shout(data) }, topic)).toEqual([id, from, to, amount, nonce])
    }),
  )
})

test('a log that differs in any part from a good one is refused', () => {
  const good = nativeBridgeAbi.encodeEventLog('BridgeTransferCompleted', [
    `0x${'11'.repeat(32)}`,
    `0x${'22'.repeat(32)}`,
    `0x${'33'.repeat(20)}`,
    5n,
    6n,
  ])
  const [signature = '', id = '', from = '', to = ''] = good.topics
  const { data } = good
  const bad = [
    { topics: [], data },
    { topics: [signature, id, from], data },
    { topics: [signature, id, from, to, to], data },
    { topics: [initiatedTopic, id, from, to], data },
    { topics: [signature, id, from, `0x01${to.slice(4)}`], data },
    { topics: [signature, `${id}00`, from, to], data },
    { topics: [signature, id, from, `0x${'zz'.repeat(32)}`], data },
    { topics: [signature, id, from, to], data: `${data}00` },
    { topics: [signature, id, from, to], data: data.slice(0, -2) },
    { topics: [signature, id, from, to], data: `0x${'zz'.repeat(64)}` },
    // The second number has 65 bits, but its type has 64.
    { topics: [signature, id, from, to], data: `${data.slice(0, 66)}${(2n ** 64n).toString(16).padStart(64, '0')}` },
  ]
  for (const log of bad) expect([log, codeOf(() => argumentsOf(log, completedTopic))]).toEqual([log, 'NODE_REFUSED'])
  expect(argumentsOf({ topics: [signature, id, from, to], data }, completedTopic)[4]).toBe(6n)
})
