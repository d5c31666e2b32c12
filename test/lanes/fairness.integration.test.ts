import { setMaxListeners } from 'node:events'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Signer } from '../../chains/signing-port.ts'
import { until } from '../../lab/devnet/until.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import type { NonceRequest } from '../../lanes/ledger/nonce-requests.ts'
import { devnetSigner } from '../helpers/evm.ts'
import { signedAndSent, startLaneSetting, request, type LaneSetting } from './setting.ts'

const waitLimit = { timeoutMs: 90_000, everyMs: 10 }
/** ms. Longer than a test takes, so that no call rises to a better class. */
const ageingMs = 3_600_000

describe('A lane with many waiting calls', () => {
  let setting: LaneSetting
  let keys = 40
  let signer: Signer
  let agent: LaneAgent
  let served: string[]
  let leave: AbortController

  beforeAll(async () => {
    setting = await startLaneSetting()
  })
  afterEach(() => leave.abort())
  afterAll(() => setting?.stop())

  async function fresh(options: Parameters<LaneSetting['agent']>[1]): Promise<void> {
    signer = await devnetSigner(keys++)
    agent = await setting.agent(signer, options)
    served = []
    leave = new AbortController()
    setMaxListeners(0, leave.signal)
    const { window = 1 } = options ?? {}
    for (let index = 0; index < window; index++) await signedAndSent(agent, request(`holder-${keys}-${index}`))
  }

  function enter(name: string, changes: Partial<NonceRequest>): void {
    const come = async () => {
      const result = await agent.acquire(request(`${name}-${keys}`, changes), { timeoutMs: 120_000, signal: leave.signal })
      if (result.kind === 'refused') return
      served.push(name)
      await result.pending.signAndSend()
    }
    come().catch((error: unknown) => served.push(`${name} failed: ${String(error)}`))
  }

  function mineUntilServed(count: number): Promise<unknown> {
    const look = async () => {
      await setting.mine()
      return served.length >= count
    }
    return until(look, { ...waitLimit, everyMs: 20, what: `${count} to be served` })
  }

  test.each([1, 3])('a flood of one source leaves every other slot to the others (window %i)', async (window) => {
    await fresh({ window, ageingMs })
    for (let index = 0; index < 300; index++) enter(`flood-${index}`, { source: 'flood' })
    for (let index = 0; index < 4; index++) enter(`few-${index}`, { source: 'few' })
    for (let index = 0; index < 4; index++) enter(`rest-${index}`, { source: 'rest' })
    await until(() => agent.load.waiting === 308, { ...waitLimit, what: 'all to wait' })
    // The sources take turns. Slots that become free together may be taken in any order.
    await mineUntilServed(12 + window)
    const first = served.slice(0, 12 + window)
    expect(first.filter((name) => name.startsWith('few')).toSorted((a, b) => a.localeCompare(b))).toEqual(
      [0, 1, 2, 3].map((one) => `few-${one}`),
    )
    expect(first.filter((name) => name.startsWith('rest'))).toHaveLength(4)
    expect(agent.load.waiting).toBeGreaterThan(200)
  })

  test('the last class comes through a stream of the first that never ends', async () => {
    await fresh({ window: 1, ageingMs: 400 })
    let fresher = 0
    const topUp = () => {
      while (agent.load.waiting < 4) enter(`first-${fresher++}`, { source: 'stream', priority: 1 })
    }
    enter('patient', { source: 'patient', priority: 5 })
    topUp()
    const through = async () => {
      await setting.mine()
      topUp()
      return served.includes('patient')
    }
    await until(through, { ...waitLimit, everyMs: 20, what: 'the last class to be served' })
    // `first-0` was served before `patient`. Calls of the first class still wait, although `patient` was served.
    expect(served[0]).toBe('first-0')
    expect(agent.load.waiting).toBeGreaterThan(0)
  })

  test('within a source the earliest deadline is served first', async () => {
    await fresh({ window: 1, ageingMs })
    const now = Date.now()
    enter('without', {})
    enter('later', { deadline: now + 120_000 })
    enter('sooner', { deadline: now + 60_000 })
    await until(() => agent.load.waiting === 3, { ...waitLimit, what: 'all to wait' })
    await mineUntilServed(3)
    expect(served).toEqual(['sooner', 'later', 'without'])
  })
})
