import { describe, expect, test } from 'vitest'
import type { Verdict } from '../../../bridges/port.ts'
import { createSourceWithoutNode } from '../../../bridges/kit/emitter-sources.ts'
import { tokenBridgeMessages } from '../../../lab/devnet/wormhole/token-bridge-messages.ts'
import { parseVaa } from '../../../domain/vaa.ts'
import { createSpyIntake } from '../../../intake/spy/spy.ts'
import { createSubmitter } from '../../../intake/submit/submitter.ts'
import { startSpy } from '../../../lab/devnet/wormhole/spy.ts'
import { silentLogger } from '../../../observability/logger.ts'
import { createMetrics } from '../../../observability/metrics.ts'
import { createIgnoredMessages } from '../../../intake/streams/signed/recorder.ts'
import type { NumberStatus } from '../../../intake/streams/number-status.ts'
import { unused } from '../../helpers/unused.ts'
import { signVaa, transferPayload } from '../../helpers/vaa.ts'
import { onEveryChain } from '../../helpers/on-every-chain.ts'
import { ofTokenBridge } from '../../helpers/of-token-bridge.ts'

const emitter = 'ec'.repeat(32)
const source = createSourceWithoutNode({
  begins: {},
  emitterChain: 1,
  emitter,
  sourceChain: 'wormhole-1',
  maxOpen: 200,
  ...ofTokenBridge(new Map(), new Map([['ethereum', {} as never]])),
})
const vaa = (sequence: bigint, toChain: number) =>
  signVaa({ emitterChain: 1, emitter, sequence, payload: transferPayload({ toChain }) }).bytes
const valid: Verdict = { kind: 'valid' }

function network(verify: () => Promise<Verdict>) {
  const recorded: (readonly [string, NumberStatus])[] = []
  const counts = { looks: 0 }
  const bridge = {
    name: 'wormhole-token-bridge' as const,
    decode: tokenBridgeMessages(new Map([[2, 'ethereum']])).decode,
    endpoints: onEveryChain({ verify: () => (counts.looks++, verify()) }),
  }
  const recorder = { add: (number: string, status: NumberStatus) => void recorded.push([number, status]), has: () => false }
  const streamClient = { view: { completedNumber: '6' } as never }
  return { recorded, counts, bridge, passOver: createIgnoredMessages({ source, bridge, streamClient }, recorder) }
}

describe('messages that go to no chain of ours', () => {
  test('ignored messages are verified once per number, and not below the watermark', async () => {
    const { passOver, recorded, counts } = network(async () => valid)
    for (const number of [7n, 7n, 8n, 5n, 7n]) await passOver(String(number), vaa(number, 30))
    expect([recorded, counts.looks]).toEqual([
      [
        ['7', 'ignored'],
        ['8', 'ignored'],
      ],
      2,
    ])
  })

  test('unsigned messages resolve nothing, and do not block the signed one', async () => {
    const said: Verdict[] = [{ kind: 'rejected', code: 'VAA_SIGNATURE_INVALID', reason: '' }, valid]
    const { passOver, recorded } = network(async () => said.shift() ?? valid)
    await passOver('7', vaa(7n, 30))
    expect(recorded).toEqual([])
    await passOver('7', vaa(7n, 30))
    expect(recorded).toEqual([['7', 'ignored']])
  })

  test('a message that a plug-in refuses is ignored once it is verified, though it fits the routes', async () => {
    const said: Verdict[] = [{ kind: 'rejected', code: 'VAA_NO_QUORUM', reason: '' }, valid]
    const { passOver, recorded } = network(async () => said.shift() ?? valid)
    await passOver('7', vaa(7n, 2), 'EMITTER_UNKNOWN')
    await passOver('7', vaa(7n, 2), 'PAYLOAD_KIND')
    expect(recorded).toEqual([])
    await passOver('7', vaa(7n, 2), 'PAYLOAD_KIND')
    expect(recorded).toEqual([['7', 'ignored']])
  })

  test('ignored messages are dropped while many wait for a node', async () => {
    let answer: (verdict: Verdict) => void = () => {}
    const said = new Promise<Verdict>((resolve) => (answer = resolve))
    const { passOver, recorded, counts } = network(() => said)
    const all = Promise.all(Array.from({ length: 100 }, (_, index) => passOver(String(7 + index), vaa(BigInt(7 + index), 30))))
    expect(counts.looks).toBe(64)
    answer(valid)
    await all
    expect(recorded).toHaveLength(64)
  })

  test('10,000 ignored messages cost three verifications, and delay no transfer', async () => {
    const { passOver, recorded, counts, bridge } = network(async () => valid)
    const metrics = createMetrics()
    const started: string[] = []
    const submitter = createSubmitter({ bridges: new Map([[bridge.name, bridge as never]]), client: unused('client') as never })
    // The spy and the intake share this event loop, and the spy must not disconnect the intake.
    const spy = await startSpy({ sendTimeoutMs: 120_000 })
    const looks: Promise<void>[] = []
    const intake = createSpyIntake({
      ...{ bridge: bridge.name, address: spy.address, filters: [{ chain: 1, emitter }], metrics, logger: silentLogger() },
      submitter: {
        async submit(name, bytes, options) {
          if (bridge.decode(bytes).targetChain !== 'ethereum') return submitter.submit(name, bytes, options)
          started.push(bridge.decode(bytes).sequence)
          return { id: 'ours', status: 'started' }
        },
      },
      listener: {
        connected() {},
        received(bytes, outcome) {
          if (outcome.kind === 'refused') looks.push(passOver(parseVaa(bytes).sequence, bytes))
        },
      },
    })
    try {
      intake.start()
      await expect.poll(() => spy.subscribers, { timeout: 40_000 }).toBe(1)
      await expect.poll(() => intake.health.connected, { timeout: 40_000 }).toBe(true)
      const elsewhere = [7n, 8n, 9n].map((number) => vaa(number, 30))
      for (let index = 0; index < 10_000; index++) spy.publish(elsewhere[index % 3]!, 1, emitter)
      spy.publish(vaa(10n, 2), 1, emitter)
      await expect.poll(() => started, { timeout: 120_000 }).toEqual(['10'])
      await expect.poll(() => intake.health.refused['TARGET_CHAIN_UNSUPPORTED'], { timeout: 40_000 }).toBe(10_000)
      await Promise.all(looks)
      expect(intake.health).toMatchObject({ paused: false, kept: 0, connections: 1 })
      expect([counts.looks, recorded.map(([number]) => number).toSorted()]).toEqual([3, ['7', '8', '9']])
      expect(await metrics.render()).toContain(
        'portage_intake_refused_total{via="spy",bridge="wormhole-token-bridge",code="TARGET_CHAIN_UNSUPPORTED"} 10000',
      )
    } finally {
      await intake.stop(50)
      await spy.stop()
    }
  }, 200_000)
})
