import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { changeSettings } from '../../temporal/client/settings/settings.ts'
import { nativeTransferId } from '../../lab/devnet/sent.ts'
import { until } from '../../lab/devnet/until.ts'
import { outsideReason } from '../../domain/stream/outside-window.ts'
import type { StreamState } from '../../domain/stream/stream.ts'
import { cancelSignal } from '../../temporal/contracts/transfer.ts'
import { workflowIdOf } from '../../temporal/client/streams/streams.ts'
import { streamStatusQuery } from '../../temporal/contracts/stream.ts'
import { startStage, type Stage } from '../helpers/e2e.ts'
import { settingsReach } from '../helpers/e2e-settings.ts'

const known = { bridges: ['native-bridge'], lanes: [], nodes: { ethereum: [], bsc: [] } }
const scope = { bridge: 'native-bridge', sourceChain: 'ethereum', targetChain: 'bsc' }

describe('how transfers of a stream end, or wait, without a delivery', { timeout: 400_000 }, () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await startStage({ native: 'fixed', wormhole: false })
  })
  afterAll(() => stage?.close())

  const stateOf = () =>
    stage.client.workflow.getHandle(workflowIdOf(stage.client, 'native-bridge:ethereum:bsc')).query<StreamState>(streamStatusQuery)
  const shows = (wanted: (state: StreamState) => boolean, what: string) =>
    until(
      async () => {
        const state = await stateOf()
        return wanted(state) && state
      },
      { timeoutMs: 120_000, everyMs: 200, what },
    )

  test('a stream ends with a cancelled transfer as an exception, one parked above the cap, others delivered', async () => {
    const portage = await stage.portage()
    const by = { by: 'ops', reason: 'a test' }
    await until(() => changeSettings(stage.client, known, { ...by, orders: [{ kind: 'halt', scope }] }), {
      timeoutMs: 60_000,
      what: 'the halt',
    })
    await settingsReach(stage, portage)
    const users = stage.devnet.native?.users.ethereum
    if (!users) throw new Error('the devnet has no native bridge')
    // The daily limit is a quarter of the fund's 10^17 wei. The second amount exceeds the limit.
    const [unwanted, huge, plain] = await users.send([{ amount: 1n }, { amount: 5n * 10n ** 16n }, { amount: 3n }])
    if (!unwanted || !huge || !plain) throw new Error('nothing was sent')
    await shows(({ open }) => open.length === 3, 'all three to be open')
    const handle = stage.client.workflow.getHandle(nativeTransferId(unwanted))
    await handle.signal(cancelSignal, { order: { by: 'ops', reason: 'sent by mistake' } })
    const cancelled = await shows(({ exceptions }) => exceptions.length === 1, 'the exception')
    expect(cancelled.exceptions).toMatchObject([
      { number: String(unwanted.nonce), outcome: 'cancelled', by: 'ops', reason: 'sent by mistake' },
    ])
    await changeSettings(stage.client, known, { ...by, orders: [{ kind: 'unhalt', scope }] })
    const parked = await shows(
      (state) => state.open.length === 0 && outsideReason(state, String(huge.nonce)) !== undefined,
      'the one that is parked',
    )
    expect(parked.counts).toMatchObject({ completed: 1, cancelled: 1 })
    expect(outsideReason(parked, String(huge.nonce))).toMatchObject({ code: 'BRIDGE_CAP' })
  })
})
