import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ConfigInput } from '../../lab/devnet/relayer-config.ts'
import { createSender } from '../../lab/devnet/chain/sender.ts'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { managerAbi, type NttEnd } from '../../lab/devnet/ntt/ntt-contracts.ts'
import { nttEffects, orderNtt } from '../../lab/devnet/ntt/ntt-effects.ts'
import type { SentNttTransfer } from '../../lab/devnet/ntt/ntt-users.ts'
import { deployNtt, type NttNetwork } from '../../lab/devnet/ntt/ntt.ts'
import { until } from '../../lab/devnet/until.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import { workflowIdOf } from '../../temporal/client/streams/streams.ts'
import { streamViewQuery } from '../../temporal/contracts/stream.ts'
import { runCli } from '../cli/run-cli.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'

const rateLimitSeconds = 25
const one = 10n ** 8n
/** The manager's inbound limit, in whole tokens. */
const inboundLimit = 1_000n
const aboveLimit = (inboundLimit + 1n) * one

describe('Native token transfers, delivered by a Portage process', () => {
  let stage: Stage
  let portage: PortageProcess
  let single: NttNetwork
  /** Each manager needs the messages of two transceivers. */
  let double: NttNetwork

  beforeAll(async () => {
    stage = await startStage({ auditMinutes: 0.1, ntt: { rateLimitSeconds, inboundLimit } })
    single = stage.devnet.ntt!
    double = await deployNtt(stage.devnet.chains, { transceivers: 2 })
    portage = await start()
  })

  afterAll(() => stage?.close())

  async function start(): Promise<PortageProcess> {
    const started = await stage.portage({ configure: withTokens })
    await until(() => stage.devnet.guardian.spy.subscribers === 1, { timeoutMs: 60_000, what: 'the subscription' })
    return started
  }

  function withTokens(config: ConfigInput): ConfigInput {
    const tokens = [single, double].map(({ ends: { ethereum, bsc } }) => {
      const peer = ({ manager, transceivers }: NttEnd) => ({ manager, transceivers: [...transceivers] })
      return { peers: { ethereum: peer(ethereum), bsc: peer(bsc) }, free: true as const }
    })
    // NTT needs no token bridge.
    const chains = Object.entries(config.chains).map(([name, { contracts, ...chain }]) => [
      name,
      { ...chain, contracts: { core: contracts!.core } },
    ])
    const { 'wormhole-token-bridge': wormhole } = config.bridges
    const bridges = { 'wormhole-token-bridge': { ...wormhole, minimumFees: {}, freeRoutes: [] }, ntt: { tokens } }
    return { ...config, chains: Object.fromEntries(chains), bridges }
  }

  const idsOf = ({ emitterChain, messages }: SentNttTransfer) =>
    Promise.all(
      messages.map(async ({ emitter, sequence }) => {
        const { digest } = await stage.devnet.guardian.waitFor(emitterChain, emitter, sequence)
        return transferId({ bridge: 'ntt', sourceId: String(emitterChain), emitter, sequence: String(sequence), digest })
      }),
    )
  const idOf = async (sent: SentNttTransfer) => (await idsOf(sent))[0]!
  const balanceOf = ({ recipient }: SentNttTransfer, end: NttEnd) => nttEffects(end).balanceOf(recipient)
  const ends = async (...sent: readonly SentNttTransfer[]) => stage.outcomes((await Promise.all(sent.map(idsOf))).flat(), 180_000)
  const isPaid = (sent: SentNttTransfer, end: NttEnd) => nttEffects(end).isMessageExecuted(sent.digest)
  const nonces = async () =>
    Number(
      await single.ends.bsc.anvil.rpc<string>('eth_getTransactionCount', [
        stage.devnet.lanes.find(({ chain }) => chain === 'bsc')!.address,
        'latest',
      ]),
    )

  test('a transfer each way pays its recipient once, and both streams prove it', async () => {
    const [[there], [back]] = await Promise.all([
      single.users.ethereum.send([{ amount: 7n * one }]),
      single.users.bsc.send([{ amount: 2n * one }]),
    ])
    const outcomes = await ends(there!, back!)
    expect(outcomes.map(({ state, delivery }) => [state, delivery?.ours])).toEqual([
      ['delivered', true],
      ['delivered', true],
    ])
    const check = await stage.devnet.check([there!, back!])
    expect(check).toMatchObject({ delivered: 2, lost: 0, duplicates: 0, wrongBalances: 0, foreignCompletions: 0 })
    for (const { source, emitter, sequence } of [there!, back!]) {
      const stream = workflowIdOf(stage.client, `wormhole:${source}:${emitter}`)
      const view = () => stage.client.workflow.getHandle(stream).query(streamViewQuery)
      const proved = async () => BigInt((await view()).completedNumber ?? -1) >= sequence
      await until(proved, { timeoutMs: 120_000, everyMs: 200, what: `${stream} to be resolved up to ${sequence}` })
      expect((await view()).gaps).toEqual({})
    }
  })

  test('above the inbound limit a transfer waits, survives a restart, and is delivered once it is paid', async () => {
    const { bsc } = single.ends
    const before = await nonces()
    const sent = await single.users.ethereum.send([{ amount: aboveLimit }, { amount: aboveLimit + 1n }])
    const [ours, theirs] = [sent[0]!, sent[1]!]
    for (const transfer of sent) {
      const id = await idOf(transfer)
      const waits = await until(
        async () => {
          const status = await stage.reaches(id, 'waiting')
          return status.code === 'DELIVERY_NOT_DUE' && status
        },
        { timeoutMs: 60_000, everyMs: 200, what: `${id} to be in the queue` },
      )
      expect(waits.reason).toMatch(/^It is in the queue of the manager until 20.*Z\.$/)
      expect(waits.timeline.map(({ note }) => note)).toContainEqual(expect.stringMatching(/^stage receive is final in block \d+/))
      expect([await isPaid(transfer, bsc), await balanceOf(transfer, bsc)]).toEqual([true, 0n])
    }
    expect(await nonces()).toBe(before + 2)
    await stage.end(portage)

    const call = { to: bsc.manager, data: managerAbi.encodeFunctionData('completeInboundQueuedTransfer', [theirs.digest]) }
    const isDue = () =>
      bsc.anvil.rpc<string>('eth_call', [call, 'latest']).then(
        () => true,
        () => false,
      )
    await until(isDue, { timeoutMs: 60_000, everyMs: 250, what: 'the end of the queue' })
    await createSender(bsc.anvil, stage.devnet.outsiders.bsc, 300_000n)([call])
    portage = await start()

    const [own, foreign] = await ends(ours, theirs)
    expect(own).toMatchObject({ state: 'delivered', delivery: { ours: true } })
    expect(foreign).toMatchObject({ state: 'delivered', delivery: { ours: false } })
    expect(await Promise.all(sent.map((transfer) => balanceOf(transfer, bsc)))).toEqual(sent.map(({ amount }) => amount))
    expect(await nonces()).toBe(before + 3)
    expect(await stage.devnet.check(sent)).toMatchObject({ delivered: 2, duplicates: 0, revertedTransactions: 0 })
  })

  test('while the manager is paused a transfer waits, and then it goes on', async () => {
    const { bsc } = single.ends
    await orderNtt(bsc, 'pause')
    const [sent] = await single.users.ethereum.send([{ amount: one }])
    const waits = await stage.reaches(await idOf(sent!), 'waiting')
    expect(waits).toMatchObject({ code: 'BRIDGE_PAUSED', reason: 'The NTT manager is paused.' })
    await orderNtt(bsc, 'unpause')
    expect(await ends(sent!)).toMatchObject([{ state: 'delivered', delivery: { ours: true } }])
    expect(await balanceOf(sent!, bsc)).toBe(sent!.amount)
  })

  test('with a threshold of two, the first message waits for the second, and both are delivered when it pays', async () => {
    const { bsc } = double.ends
    const late = double.ends.ethereum.transceivers[1]!.slice(2)
    stage.devnet.guardian.treat(({ emitter }) => (emitter.endsWith(late) ? 'hold' : 'sign'))
    const [sent] = await double.users.ethereum.send([{ amount: one }])
    const { emitterChain, messages } = sent!
    const { digest } = await stage.devnet.guardian.waitFor(emitterChain, messages[0]!.emitter, messages[0]!.sequence)
    const { emitter, sequence } = messages[0]!
    const first = transferId({ bridge: 'ntt', sourceId: String(emitterChain), emitter, sequence: String(sequence), digest })
    const waits = await stage.reaches(first, 'waiting')
    expect(waits).toMatchObject({ code: 'DELIVERY_NOT_DUE', reason: 'The manager waits for the attestations of other transceivers.' })
    expect(await balanceOf(sent!, bsc)).toBe(0n)
    stage.devnet.guardian.treat(() => 'sign')
    stage.devnet.guardian.release()
    expect((await ends(sent!)).map(({ state }) => state)).toEqual(['delivered', 'delivered'])
    expect(await balanceOf(sent!, bsc)).toBe(sent!.amount)
  })

  test('the doctor finds the contracts of both tokens, and reports a paused manager', async () => {
    const doctor = async () => {
      const { json } = await runCli(['doctor', '--json', '--config', portage.configPath], { env: stage.devnet.env })
      const { checks } = json() as { checks: readonly { area: string; status: string; name: string; detail: string }[] }
      return checks.filter(({ area }) => area === 'bridge ntt')
    }
    expect((await doctor()).map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'ok'])
    const { bsc } = single.ends
    await orderNtt(bsc, 'pause')
    const paused = (await doctor()).filter(({ status }) => status !== 'ok')
    expect(paused).toMatchObject([{ status: 'warn', name: 'token 0 on bsc', detail: expect.stringContaining('paused') }])
    await orderNtt(bsc, 'unpause')
  })
})
