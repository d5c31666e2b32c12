import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { devnetGuardians } from '../../lab/devnet/chain/accounts.ts'
import { upgradeGuardians } from '../../lab/devnet/wormhole/guardian-sets.ts'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import { signVaa, toUniversal } from '../../lab/devnet/wormhole/vaa.ts'
import { outsideReason } from '../../domain/stream/outside-window.ts'
import type { StreamState } from '../../domain/stream/stream.ts'
import { workflowIdOf } from '../../temporal/client/streams/streams.ts'
import { streamStatusQuery } from '../../temporal/contracts/stream.ts'
import { runCli } from '../cli/run-cli.ts'
import { expectDelivered } from '../helpers/e2e-judge.ts'
import { runsOf } from '../helpers/e2e-runs.ts'
import { type Sent, type Stage, startStage } from '../helpers/e2e.ts'
import { settingsReach } from '../helpers/e2e-settings.ts'

const coin = { kind: 'coin', amount: 10n ** 16n } as const
const guardians = devnetGuardians(1)

/** While a message waits, its guardian set expires. Then only a copy with newer signatures can be delivered. */
describe('A VAA whose guardian set has expired', { timeout: 300_000 }, () => {
  let stage: Stage
  let portage: PortageProcess
  let sent: Sent[]

  const state = async (): Promise<StreamState> => {
    const emitter = toUniversal(stage.devnet.chains.ethereum.tokenBridge)
    return stage.client.workflow.getHandle(workflowIdOf(stage.client, `wormhole-token-bridge:ethereum:${emitter}`)).query(streamStatusQuery)
  }
  const messageOf = ({ sequence, emitter }: Sent) => {
    const found = stage.devnet.guardian.observations.find(({ message }) => message.sequence === sequence && message.emitter === emitter)
    if (!found) throw new Error('not observed')
    return found.message
  }
  const cli = async (...args: string[]) => {
    const { code, err } = await runCli([...args, '--reason', 'an exercise', '--config', portage.configPath], {
      env: process.env,
    })
    expect([code, err]).toEqual([0, ''])
  }

  beforeAll(async () => {
    stage = await startStage()
    portage = await stage.portage({ configure: (config) => ({ ...config, streams: { ...config.streams, auditMinutes: 0.05 } }) })
    await cli('halt', '--chain', 'bsc')
    await settingsReach(stage, portage)
    sent = await stage.send('ethereum', [coin, coin, coin])
    await Promise.all(sent.map(({ id }) => stage.reaches(id, 'waiting')))
  })
  afterAll(() => stage?.close())

  test('a VAA of an expired guardian set leaves its transfer parked, which its stream shows', async () => {
    const { ethereum, bsc } = stage.devnet.chains
    await upgradeGuardians(ethereum, guardians, 1)
    await upgradeGuardians(bsc, guardians, 1)
    await cli('unhalt', '--chain', 'bsc')
    const parked = await Promise.all(sent.map(({ id }) => stage.reaches(id, 'parked', 120_000)))
    expect(parked.map(({ code }) => code)).toEqual(sent.map(() => 'GUARDIAN_SET_EXPIRED'))
    const isKnown = async () => {
      const shown = await state()
      return sent.every(({ sequence }) => outsideReason(shown, String(sequence))?.code === 'GUARDIAN_SET_EXPIRED')
    }
    await until(isKnown, { timeoutMs: 60_000, what: 'the stream to show them as parked' })
  })

  test('a VAA of an expired guardian set is replaced by a newer copy from the spy', async () => {
    const [first] = sent as [Sent]
    const message = messageOf(first)
    const copy = signVaa(message, guardians, undefined, 1)
    await until(() => stage.devnet.guardian.spy.subscribers > 0, { timeoutMs: 60_000, what: 'Portage to listen to the spy' })
    // An audit may make the transfer check its old copy again, so the transfer may be in any state when the new copy
    // arrives.
    stage.devnet.guardian.spy.publish(copy.bytes, message.emitterChain, message.emitter)
    expect((await stage.reaches(first.id, 'delivered')).delivery).toMatchObject({ ours: true })
  })

  test('a VAA of an expired guardian set is replaced by a submitted copy, and the answer says so', async () => {
    const second = sent[1] as Sent
    const { status, body } = await stage.submit(portage, signVaa(messageOf(second), guardians, undefined, 1).bytes)
    expect([status, body]).toEqual([200, expect.objectContaining({ id: second.id, status: 'known', adopted: true })])
    await stage.reaches(second.id, 'delivered')
  })

  test('a copy at a server of the network replaces it: the audit finds it if no later message shows the gap', async () => {
    const third = sent[2] as Sent
    expect((await stage.status(third.id)).state).toBe('parked')
    stage.devnet.guardian.renew(1)
    stage.devnet.guardian.treat(() => 'mute')
    const [quiet] = (await stage.send('ethereum', [coin])) as [Sent]
    await Promise.all([third, quiet].map(({ id }) => stage.reaches(id, 'delivered')))
    await until(async () => (await state()).open.length === 0, { timeoutMs: 60_000, what: 'nothing to be open' })
    await expectDelivered(stage)
    for (const { id } of stage.sent) expect(await runsOf(stage, id)).toBe(1)
  })
})
