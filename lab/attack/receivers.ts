import { getBytes, HDNodeWallet, hexlify, Interface, randomBytes, toQuantity } from 'ethers'
import { Script } from '../devnet/chain/contracts.ts'
import { compiledArtifact } from '../devnet/chain/solidity.ts'
import type { Devnet } from '../devnet/index.ts'
import type { ConfigInput } from '../devnet/relayer-config.ts'
import { until } from '../devnet/until.ts'
import { writeReceiverPlugin } from '../devnet/wormhole/receiver-plugin.ts'
import { toUniversal } from '../devnet/wormhole/vaa.ts'
import { published } from '../devnet/wormhole/wormhole.ts'
import type { ChainKey } from '../faults/fault-targets.ts'
import type { AttackScene, ReceiverEnd, ReceiverEnds } from './scene.ts'

const coreAbi = new Interface(['function publishMessage(uint32 nonce, bytes payload, uint8 consistencyLevel) payable returns (uint64)'])
const receivedAbi = new Interface(['event Received(bytes32 indexed digest, address indexed by, uint256 value, bytes payload)'])
const chains = ['ethereum', 'bsc'] as const satisfies ChainKey[]
export const pluginPrefix = 'packaged-'

/**
 * First byte of a payload. The contract accepts all values. Payloads that begin with `listed` have a route of
 * `bridges.receivers`, payloads with `packaged` have a route of a plug-in, and payloads with `unlisted` have no route.
 */
export const firstByte = { listed: '0x01', unlisted: '0x02', packaged: '0x03' } as const

export async function deployReceivers({ chains: { ethereum, bsc } }: Pick<Devnet, 'chains'>): Promise<ReceiverEnds> {
  const compiled = await compiledArtifact('MessageReceiver')
  const end = async (source: typeof ethereum, target: typeof bsc): Promise<ReceiverEnd> => {
    const { address, privateKey } = HDNodeWallet.createRandom()
    const sender = { address: address.toLowerCase(), privateKey }
    await source.anvil.rpc('anvil_setBalance', [address, toQuantity(10n ** 20n)])
    const script = await Script.of(target.anvil, target.deployer)
    const args = [target.core, source.wormholeChainId, `0x${toUniversal(address)}`]
    const contract = script.deploy('MessageReceiver', args, compiled)
    await script.mine()
    return { source: source.name as ChainKey, contract, sender, sent: [] }
  }
  return { ethereum: await end(bsc, ethereum), bsc: await end(ethereum, bsc) }
}

export function receiverRoutes(ends: ReceiverEnds): NonNullable<ConfigInput['bridges']['receivers']>['routes'] {
  return chains.map((target) => {
    const { source, contract, sender } = ends[target]
    return {
      ...{ source, emitter: sender.address, where: { '0': firstByte.listed.slice(2) }, target, contract, free: true },
      delivered: { view: 'isReceived(bytes32)' },
    }
  })
}

/** Writes a plug-in for each target, and returns the config of `bridges.plugins`. */
export async function receiverPlugins(dir: string, ends: ReceiverEnds): Promise<ConfigInput['bridges']['plugins']> {
  const plugins = chains.map(async (target) => {
    const { source, contract, sender } = ends[target]
    const from = { source, emitter: toUniversal(sender.address), byte: firstByte.packaged.slice(2) }
    const name = `${pluginPrefix}${target}`
    return [name, (await writeReceiverPlugin(dir, { name, target, contract, ...from })).config] as const
  })
  return Object.fromEntries(await Promise.all(plugins))
}

/** Publishes a message whose payload begins with `first`. Resolves with the signed message. */
export async function publish(
  { devnet, locks }: AttackScene,
  { source, sender }: ReceiverEnd,
  first: string,
): Promise<{ readonly payload: string; readonly bytes: Uint8Array }> {
  const { anvil, core, wormholeChainId } = devnet.chains[source]
  const payload = `${first}${hexlify(randomBytes(31)).slice(2)}`
  const [message] = await locks[source].run(async () => {
    const script = await Script.of(anvil, sender)
    script.call(core, coreAbi, 'publishMessage', [0, payload, 1])
    return (await script.mine()).flatMap((one) => published(one, core, wormholeChainId))
  })
  if (!message) throw new Error('The message was not published')
  const { bytes } = await devnet.guardian.waitFor(wormholeChainId, message.emitter, message.sequence)
  return { payload, bytes: getBytes(bytes) }
}

/** Publishes `perChain` honest messages to each of the two chains, spread over `durationMs`. */
export async function sendMessages(scene: AttackScene, perChain: number, durationMs: number): Promise<void> {
  await Promise.all(
    Object.values(scene.receivers).map(async (end) => {
      const started = Date.now()
      for (let index = 0; index < perChain; index++) {
        await scene.wait(Math.max(0, started + (index * durationMs) / perChain - Date.now()))
        const first = scene.hasPlugin && index % 2 === 1 ? firstByte.packaged : firstByte.listed
        end.sent.push((await publish(scene, end, first)).payload)
      }
    }),
  )
}

export interface ReceiverVerdict {
  readonly honest: number
  readonly delivered: number
  readonly lost: number
  /** Number of received messages that no route lists, or that carried coins, which no route allows. */
  readonly foreign: number
}

export async function judgeReceivers({ devnet, receivers }: Pick<AttackScene, 'devnet' | 'receivers'>): Promise<ReceiverVerdict> {
  const verdicts = await Promise.all(
    chains.map(async (target) => {
      const { contract: address, sent } = receivers[target]
      const topics = [receivedAbi.getEvent('Received')?.topicHash]
      const filter = { address, topics, fromBlock: '0x0', toBlock: 'latest' }
      const logs = await devnet.chains[target].anvil.rpc<{ topics: string[]; data: string }[]>('eth_getLogs', [filter])
      const received = logs.map((log) => receivedAbi.parseLog(log)?.args)
      const payloads = received.map((one) => String(one?.['payload']))
      const times = sent.map((payload) => payloads.filter((one) => one === payload).length)
      return {
        honest: sent.length,
        delivered: times.filter((count) => count === 1).length,
        lost: times.filter((count) => count === 0).length,
        foreign: received.filter((one) => !sent.includes(String(one?.['payload'])) || one?.['value'] !== 0n).length,
      }
    }),
  )
  const sum = (field: keyof ReceiverVerdict) => verdicts.reduce((total, one) => total + one[field], 0)
  return { honest: sum('honest'), delivered: sum('delivered'), lost: sum('lost'), foreign: sum('foreign') }
}

/** Waits until the contracts have received all honest messages, for at most `timeoutMs`. Never throws. */
export async function untilReceived(scene: AttackScene, timeoutMs: number): Promise<void> {
  const look = async () => (await judgeReceivers(scene)).lost === 0
  await until(look, { timeoutMs, everyMs: 1_000, what: 'the contracts to receive all messages' }).catch((error: Error) =>
    scene.say(error.message),
  )
}
