import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Interface } from 'ethers'
import type { ConfigInput } from '../../lab/devnet/relayer-config.ts'
import { Script } from '../../lab/devnet/chain/contracts.ts'
import { compiledArtifact } from '../../lab/devnet/chain/solidity.ts'
import { toUniversal } from '../../lab/devnet/wormhole/vaa.ts'
import { messageKind } from '../../lab/devnet/wormhole/users.ts'
import { published } from '../../lab/devnet/wormhole/wormhole.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import type { ChainKey, Stage } from './e2e.ts'

const coreAbi = new Interface(['function publishMessage(uint32 nonce, bytes payload, uint8 consistencyLevel) payable returns (uint64)'])
/** Consistency level at which the guardians sign without a wait for finality. */
const instant = 200

interface Published {
  readonly emitterChain: number
  readonly emitter: string
  readonly sequence: bigint
}

interface Identified {
  readonly id: string
}

/** Resolves when the guardians have signed all messages. */
function identified({ devnet }: Stage, bridge: string, sent: readonly Published[]): Promise<Identified[]> {
  return Promise.all(
    sent.map(async ({ emitterChain, emitter, sequence }) => {
      const { digest } = await devnet.guardian.waitFor(emitterChain, emitter, sequence)
      return { id: transferId({ bridge, sourceId: String(emitterChain), emitter, sequence: String(sequence), digest }) }
    }),
  )
}

/** Sends coins with a payload 3, for the route to the other chain's redeemer. */
export async function sendPayloads(stage: Stage, source: ChainKey, count: number): Promise<Identified[]> {
  const transfers = Array.from({ length: count }, () => ({ kind: messageKind, amount: 10n ** 17n }) as const)
  return identified(stage, 'receivers', await stage.devnet.users[source].send(transfers))
}

export async function sendNtt(stage: Stage, source: ChainKey, count: number): Promise<Identified[]> {
  const { ntt } = stage.devnet
  if (!ntt) throw new Error('The devnet was started without NTT')
  const transfers = Array.from({ length: count }, (_, index) => ({ amount: BigInt(index + 1) }))
  return identified(stage, 'ntt', await ntt.users[source].send(transfers))
}

/** Publishes messages for the package. */
export async function sendPackaged(stage: Stage, source: ChainKey, count: number): Promise<Identified[]> {
  const { anvil, core, wormholeChainId } = stage.devnet.chains[source]
  const script = await Script.of(anvil, stage.devnet.outsiders[source])
  for (let index = 0; index < count; index++) script.call(core, coreAbi, 'publishMessage', [index, '0x01', instant])
  const messages = (await script.mine()).flatMap((one) => published(one, core, wormholeChainId))
  return identified(stage, packageName, messages)
}

const packageName = 'messages'

/**
 * Makes a package for messages of an account on `source` to a new contract on `target`. Returns the package's part of
 * the config.
 */
export async function makePackage(
  { devnet }: Stage,
  [source, target]: readonly [ChainKey, ChainKey],
): Promise<NonNullable<ConfigInput['bridges']['plugins']>> {
  const [from, to] = [devnet.chains[source], devnet.chains[target]]
  const emitter = toUniversal(devnet.outsiders[source].address)
  const script = await Script.of(to.anvil, devnet.outsiders[target])
  const args = [to.core, from.wormholeChainId, `0x${emitter}`]
  const contract = script.deploy('MessageReceiver', args, await compiledArtifact('MessageReceiver'))
  await script.mine()
  const take = 'executeVAAv1(bytes)'
  const calls = [{ contract, function: take, proof: 'message' as const }]
  const routes = [{ from: [{ source, emitter }], where: { '0': '01' }, to: target, calls }]
  const text = `import { plugin, z } from 'portage/plugin'
export default plugin({ name: '${packageName}', version: '1', kit: 1, settings: z.object({}), create: () => ({
  routes: ${JSON.stringify(routes)},
  decode: () => ({}),
  stages: { deliver: { call: ({ bytes }) => ({ contract: '${contract}', function: '${take}', args: [bytes] }), revertsOnceDone: true } },
  delivered: ({ digest }) => [{ contract: '${contract}', view: 'isReceived(bytes32)', args: [digest], returns: 'bool', is: [true] }],
  parties: () => ({ recipient: '${contract}', token: '${packageName}' }),
}) })
`
  const module = join(devnet.dir, `${packageName}.mjs`)
  await writeFile(module, text)
  return { [packageName]: { module, sha256: createHash('sha256').update(text).digest('hex'), settings: {}, routes, free: true as const } }
}
