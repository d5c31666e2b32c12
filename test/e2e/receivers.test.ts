import { Interface } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { artifact, Script } from '../../lab/devnet/chain/contracts.ts'
import { freshAddress } from '../../lab/devnet/chain/accounts.ts'
import { compiledArtifact } from '../../lab/devnet/chain/solidity.ts'
import type { ConfigInput } from '../../lab/devnet/relayer-config.ts'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import { toUniversal } from '../../lab/devnet/wormhole/vaa.ts'
import { published } from '../../lab/devnet/wormhole/wormhole.ts'
import type { StreamView } from '../../domain/stream/stream.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import { workflowIdOf } from '../../temporal/client/streams/streams.ts'
import { streamViewQuery } from '../../temporal/contracts/stream.ts'
import { digestOf } from '../../bridges/kit/signed-messages.ts'
import { parseVaa } from '../../domain/vaa.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'
import { transferPayload } from '../helpers/vaa.ts'
import { runCli } from '../cli/run-cli.ts'

const coreAbi = new Interface(['function publishMessage(uint32 nonce, bytes payload, uint8 consistencyLevel) payable returns (uint64)'])
const bridgeAbi = artifact('BridgeImplementation').abi

describe('Messages of any emitter, delivered by routes of the config alone', () => {
  let stage: Stage
  let portage: PortageProcess
  let receiverAbi: Interface
  /** A contract that accepts the messages of one account on ethereum. */
  let receiver: string
  let idle: string
  /** A contract that redeems transfers with a payload (payload 3) at bsc's token bridge. */
  let redeemer: string

  beforeAll(async () => {
    stage = await startStage({ auditMinutes: 0.1 })
    const { ethereum, bsc } = stage.devnet.chains
    const sender = stage.devnet.outsiders.ethereum.address
    const compiled = await compiledArtifact('MessageReceiver')
    receiverAbi = compiled.abi
    const script = await Script.of(bsc.anvil, stage.devnet.outsiders.bsc)
    receiver = script.deploy('MessageReceiver', [bsc.core, ethereum.wormholeChainId, `0x${toUniversal(sender)}`], compiled)
    await script.mine()
    redeemer = bsc.redeemer
    idle = freshAddress()
    await bsc.anvil.rpc('anvil_setCode', [idle, '0x00'])
    type Route = NonNullable<ConfigInput['bridges']['receivers']>['routes'][number]
    const ofRoute = (route: Omit<Route, 'source' | 'target' | 'free'>): Route => ({
      ...route,
      source: 'ethereum',
      target: 'bsc',
      free: true,
    })
    portage = await stage.portage({
      configure: (config) => ({
        ...config,
        transfers: { ...config.transfers, parkAfterReverts: 2 },
        bridges: {
          ...config.bridges,
          receivers: {
            routes: [
              ofRoute({
                ...{ emitter: sender, contract: receiver, where: { '0': '01' }, delivered: { view: 'isReceived(bytes32)' } },
                stream: { first: '0' },
              }),
              ofRoute({
                ...{ emitter: sender, contract: idle, where: { '0': 'ff' } },
                delivered: { contract: receiver, view: 'isReceived(bytes32)' },
              }),
              ofRoute({
                ...{ emitter: sender, contract: receiver, where: { '0': '05' }, delivered: { view: 'isReceived(bytes32)' } },
                coins: { atMost: '1000 gwei', value: '900 gwei' },
              }),
              ofRoute({
                ...{ emitter: ethereum.tokenBridge, contract: redeemer, function: 'completeTransferWithPayload(bytes)' },
                where: { '0': '03', '67': toUniversal(redeemer), '99': '0004' },
                delivered: { contract: bsc.tokenBridge, view: 'isTransferCompleted(bytes32)' },
              }),
            ],
          },
        },
      }),
    })
    await until(() => stage.devnet.guardian.spy.subscribers === 1, { timeoutMs: 60_000, what: 'the subscription' })
  })

  afterAll(() => stage?.close())

  const emitter = () => toUniversal(stage.devnet.outsiders.ethereum.address)
  const view = (stream: string): Promise<StreamView> =>
    stage.client.workflow.getHandle(workflowIdOf(stage.client, stream)).query(streamViewQuery)
  const isProved = (stream: string, number: bigint) =>
    until(async () => BigInt((await view(stream)).completedNumber ?? -1) >= number && view(stream), {
      timeoutMs: 120_000,
      everyMs: 200,
      what: `${stream} to be resolved up to ${number}`,
    })

  async function publish(call: (script: Script) => void, bridge: string): Promise<{ id: string; digest: string; sequence: bigint }[]> {
    const { anvil, core, wormholeChainId } = stage.devnet.chains.ethereum
    const script = await Script.of(anvil, stage.devnet.outsiders.ethereum)
    call(script)
    const messages = (await script.mine()).flatMap((one) => published(one, core, wormholeChainId))
    return Promise.all(
      messages.map(async ({ emitter, sequence }) => {
        const { bytes } = await stage.devnet.guardian.waitFor(wormholeChainId, emitter, sequence)
        const digest = digestOf(parseVaa(bytes))
        const id = transferId({ bridge, sourceId: String(wormholeChainId), emitter, sequence: String(sequence), digest })
        return { id, digest, sequence }
      }),
    )
  }

  const publishPayloads = (...payloads: readonly string[]) =>
    publish((script) => {
      for (const payload of payloads) script.call(stage.devnet.chains.ethereum.core, coreAbi, 'publishMessage', [0, payload, 1])
    }, 'receivers')

  const read = async (to: string, abi: Interface, method: string, args: readonly unknown[] = []) => {
    const answer = await stage.devnet.chains.bsc.anvil.rpc<string>('eth_call', [
      { to, data: abi.encodeFunctionData(method, args) },
      'latest',
    ])
    return abi.decodeFunctionResult(method, answer)[0] as unknown
  }

  test('a contract gets each message of its route once, and numbers of other messages are resolved', async () => {
    const likeTransfer = transferPayload({ kind: 3, toChain: 4 })
    const sent = await publishPayloads('0x01aa', '0x02', '0x01', likeTransfer, `0x01${'77'.repeat(500)}`)
    const routed = sent.filter((_, index) => index % 2 === 0)
    const ends = await stage.outcomes(routed.map(({ id }) => id))
    expect(ends.map(({ state, delivery }) => [state, delivery?.ours])).toEqual(routed.map(() => ['delivered', true]))
    for (const { digest } of routed) expect(await read(receiver, receiverAbi, 'isReceived', [digest])).toBe(true)
    expect(await read(receiver, receiverAbi, 'count')).toBe(3n)
    const { counts, gaps } = await isProved(`wormhole:2:${emitter()}`, sent.at(-1)!.sequence)
    expect({ ...counts, gaps }).toMatchObject({ completed: 3, ignored: 2, gaps: {} })
  })

  test('a message that the spy omits is found by the count of its emitter', async () => {
    stage.devnet.guardian.treat(() => 'mute')
    const [muted] = await publishPayloads('0x0109')
    stage.devnet.guardian.treat(() => 'sign')
    const [end] = await stage.outcomes([muted!.id])
    expect(end).toMatchObject({ state: 'delivered', delivery: { ours: true } })
    expect(await read(receiver, receiverAbi, 'count')).toBe(4n)
  })

  test('a message that somebody else delivers counts as their delivery', async () => {
    stage.devnet.guardian.treat(() => 'mute')
    const [sent] = await publishPayloads('0x0110')
    stage.devnet.guardian.treat(() => 'sign')
    const { wormholeChainId } = stage.devnet.chains.ethereum
    const { bytes } = await stage.devnet.guardian.waitFor(wormholeChainId, emitter(), sent!.sequence)
    const script = await Script.of(stage.devnet.chains.bsc.anvil, stage.devnet.outsiders.bsc)
    script.call(receiver, receiverAbi, 'executeVAAv1', [bytes])
    await script.mine()
    const { status } = await stage.submit(portage, bytes)
    expect(status).toBeLessThan(300)
    const [end] = await stage.outcomes([sent!.id])
    expect(end).toMatchObject({ state: 'delivered', delivery: { ours: false } })
    expect(await read(receiver, receiverAbi, 'count')).toBe(5n)
  })

  test('a contract that accepts a message and does nothing gets a few calls, then the transfer is parked', async () => {
    const [sent] = await publishPayloads('0xff')
    const end = await stage.reaches(sent!.id, 'parked')
    expect(end).toMatchObject({ code: 'DELIVERY_REVERTED', reason: expect.stringContaining('did not have the effect') })
    expect(await read(receiver, receiverAbi, 'isReceived', [sent!.digest])).toBe(false)
    const script = await Script.of(stage.devnet.chains.bsc.anvil, stage.devnet.outsiders.bsc)
    const { bytes } = await stage.devnet.guardian.waitFor(stage.devnet.chains.ethereum.wormholeChainId, emitter(), sent!.sequence)
    script.call(receiver, receiverAbi, 'executeVAAv1', [bytes])
    await script.mine()
    await stage.client.workflow.getHandle(sent!.id).signal('retry', { by: 'night-shift', reason: 'somebody has delivered it' })
    const [delivered] = await stage.outcomes([sent!.id])
    expect(delivered).toMatchObject({ state: 'delivered', delivery: { ours: false } })
  })

  test('a contract gets the coins of its route once with each message', async () => {
    const { anvil } = stage.devnet.chains.bsc
    const balance = async () => BigInt(await anvil.rpc<string>('eth_getBalance', [receiver, 'latest']))
    const before = await balance()
    const sent = await publishPayloads('0x0501', '0x0502', '0x01')
    const ends = await stage.outcomes(sent.map(({ id }) => id))
    expect(ends.map(({ state, delivery }) => [state, delivery?.ours])).toEqual(sent.map(() => ['delivered', true]))
    expect((await balance()) - before).toBe(2n * 900n * 10n ** 9n)
    expect(await read(receiver, receiverAbi, 'count')).toBe(9n)
  })

  test("payload 3 to a named contract shares the token bridge's numbers and is redeemed by that contract", async () => {
    const { bsc, ethereum } = stage.devnet.chains
    const args = [bsc.wormholeChainId, `0x${toUniversal(redeemer)}`, 0, '0xc0ffee']
    const [sent] = await publish(
      (script) => script.call(ethereum.tokenBridge, bridgeAbi, 'wrapAndTransferETHWithPayload', args, 10n ** 18n),
      'receivers',
    )
    const [coin] = await stage.send('ethereum', [{ kind: 'coin', amount: 10n ** 18n }])
    const ends = await stage.outcomes([sent!.id, coin!.id])
    expect(ends.map(({ state, delivery }) => [state, delivery?.ours])).toEqual([
      ['delivered', true],
      ['delivered', true],
    ])
    expect(await read(bsc.tokenBridge, bridgeAbi, 'isTransferCompleted', [sent!.digest])).toBe(true)
    await isProved(`wormhole-token-bridge:2:${toUniversal(ethereum.tokenBridge)}`, coin!.sequence)
  })

  test('the command line names transfer, contract and stream', async () => {
    const cli = (...argv: string[]) => runCli([...argv, '--config', portage.configPath], { env: stage.devnet.env })
    const { transfers } = (await cli('transfer', 'list', '--bridge', 'receivers', '--json')).json() as {
      transfers: readonly { id: string; recipient?: string }[]
    }
    expect(transfers.length).toBe(10)
    expect(new Set(transfers.map(({ recipient }) => recipient))).toEqual(new Set([receiver, redeemer, idle]))
    const shown = await cli('transfer', 'show', transfers[0]!.id)
    expect(shown).toMatchObject({ code: 0 })
    const { streams } = (await cli('stream', 'list', '--json')).json() as { streams: readonly { stream: string }[] }
    expect(streams.map(({ stream }) => stream)).toContain(`wormhole:ethereum:${emitter()}`)
  })
})
