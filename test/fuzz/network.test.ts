import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fuzz, type FuzzTarget, tryInput } from '../../lab/fuzz/fuzz.ts'
import { flood } from '../../lab/fuzz/hostile-spy.ts'
import { networkTargets, startNetworkTargets } from '../../lab/fuzz/network.ts'

interface Kept {
  readonly target: string
  readonly input: unknown
  readonly why: string
}
const all = JSON.parse(readFileSync(new URL('../../lab/fuzz/kept.json', import.meta.url), 'utf8')) as readonly Kept[]
const kept = all.filter((one) => networkTargets.includes(one.target))

describe('Readers behind a real connection, with an attacker at its other end', () => {
  const seed = Math.floor(Date.now() / 604_800_000)
  let network: Awaited<ReturnType<typeof startNetworkTargets>>
  const target = (name: string) => network.targets.find((one) => one.name === name) as unknown as FuzzTarget<unknown>

  beforeAll(async () => {
    network = await startNetworkTargets()
  })
  afterAll(() => network?.stop())

  test.each(networkTargets)(
    '%s: no untyped error, no text of the stranger, and honest answers still come through',
    async (name) => {
      expect(await fuzz(target(name), seed, 30)).toBeUndefined()
    },
    60_000,
  )

  test.each(kept.map((one) => [one.target, one.why, one] as const))(
    'the network reader %s handles a kept finding: %s',
    async (name, _, { input }) => {
      await tryInput(target(name), input)
      expect(target(name)).toBeDefined()
    },
  )

  test.each([
    ['', 0],
    [', also if the process pauses', 3],
  ])('a flooding spy is read no further while nothing is submitted, which bounds kept messages%s', async (_, stops) => {
    let left = stops
    // Blocks the event loop, so that timers are due before the bytes are read.
    const turn = async (sent: number) =>
      sent > 0 && left-- > 0 ? Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 320) : sleep(10)
    const { sent, kept, message } = await flood(20, turn)
    expect(kept).toBeGreaterThanOrEqual(20)
    expect(kept).toBeLessThan(40)
    // The buffers at both ends of the connection hold the bytes that were not kept.
    expect(sent).toBeLessThan(60 * message)
  })
})
