import { concat, hexlify, Interface, randomBytes, toBeHex, ZeroHash } from 'ethers'
import type { Intent } from '../../domain/lane/lane.ts'
import { devnetAccount } from '../devnet/chain/accounts.ts'
import { Script } from '../devnet/chain/contracts.ts'
import { compiledArtifact } from '../devnet/chain/solidity.ts'
import { instructionsOf } from '../devnet/executor/users.ts'
import { signVaa, toUniversal } from '../devnet/wormhole/vaa.ts'
import { published } from '../devnet/wormhole/wormhole.ts'
import { booty, falseGuardian, inventedNonce } from './forged-calls.ts'
import { firstByte, publish } from './receivers.ts'
import type { AttackScene } from './scene.ts'

type Chain = 'ethereum' | 'bsc'

const executeAbi = new Interface(['function executeVAAv1(bytes message)'])
const redeemAbi = new Interface(['function completeTransferWithPayload(bytes message)'])

/**
 * Coins of a forged delivery, wei. The amount is below the config's limits, so that only the proof can refuse the call.
 */
const coins = 10n ** 16n

/** A payload-3 transfer to the target's redeemer that no user sent. */
export function inventedPayload3({ devnet }: AttackScene, target: Chain): { emitter: string; payload: string } {
  const [from, to] = target === 'ethereum' ? [devnet.chains.bsc, devnet.chains.ethereum] : [devnet.chains.ethereum, devnet.chains.bsc]
  const token = [`0x${toUniversal(from.weth)}`, toBeHex(from.wormholeChainId, 2)]
  const recipient = [`0x${toUniversal(to.redeemer)}`, toBeHex(to.wormholeChainId, 2)]
  const payload = concat(['0x03', toBeHex(booty, 32), ...token, ...recipient, `0x${toUniversal(from.user.address)}`, ZeroHash])
  return { emitter: toUniversal(from.tokenBridge), payload }
}

/** A message for a route to a contract. The emitter that the route names did not send the message. */
export function inventedMessage(
  { receivers }: AttackScene,
  target: Chain,
  first: Exclude<keyof typeof firstByte, 'unlisted'>,
): { emitter: string; payload: string } {
  return { emitter: toUniversal(receivers[target].sender.address), payload: `${firstByte[first]}${hexlify(randomBytes(31)).slice(2)}` }
}

/**
 * Calls that deliver messages to contracts. Guardians have signed most of the messages, so the contracts would accept
 * them, but nobody paid for their delivery, or no route of the config lists them. No guardian has signed the other
 * messages. Several calls also carry coins for the thief.
 */
export async function forgedDeliveries(scene: AttackScene, target: Chain, dice: number): Promise<Intent[]> {
  const { devnet, receivers, thief } = scene
  const network = devnet.executor
  if (!network) throw new Error('The devnet was started without an Executor')
  const { receiver, dropOff, record } = network.ends[target]
  const [unpaid, unlisted] = await Promise.all([unpaidMessages(scene, target), publish(scene, receivers[target], firstByte.unlisted)])
  const [plain, dropped, recorded] = unpaid
  const [dropOffAbi, recordAbi] = [(await compiledArtifact('DropOffReceiver')).abi, (await compiledArtifact('DeliveryRecord')).abi]
  const execute = (message: Uint8Array | undefined) => executeAbi.encodeFunctionData('executeVAAv1', [message])
  const payDropOff = [receiver, dropped, thief.address, coins]
  const { wormholeChainId: emitterChain } = devnet.chains[target === 'ethereum' ? 'bsc' : 'ethereum']
  const place = { timestamp: 1, vaaNonce: 0, emitterChain, sequence: inventedNonce(dice), consistencyLevel: 1 }
  const falselySigned = (invented: { emitter: string; payload: string }) =>
    signVaa({ ...place, ...invented }, [devnetAccount(falseGuardian)]).bytes
  const payload3 = redeemAbi.encodeFunctionData('completeTransferWithPayload', [falselySigned(inventedPayload3(scene, target))])
  return [
    { to: receiver, data: execute(plain), value: '0' },
    { to: thief.address.toLowerCase(), data: execute(plain), value: String(coins) },
    {
      to: dropOff,
      data: dropOffAbi.encodeFunctionData('receiveMessage(address,bytes,address,uint256)', payDropOff),
      value: String(coins),
    },
    {
      to: record,
      data: recordAbi.encodeFunctionData('deliver', [hexlify(randomBytes(32)), receiver, recorded, thief.address, coins]),
      value: String(coins),
    },
    { to: receivers[target].contract, data: execute(unlisted.bytes), value: '0' },
    { to: receivers[target].contract, data: execute(falselySigned(inventedMessage(scene, target, 'listed'))), value: '0' },
    { to: devnet.chains[target].redeemer, data: payload3, value: '0' },
    ...(scene.hasPlugin ? await forgedForPlugin(scene, target, falselySigned) : []),
  ]
}

/** A call for a message that no guardian signed, and a call for an honest message with coins that no rule allows. */
async function forgedForPlugin(
  scene: AttackScene,
  target: Chain,
  falselySigned: (invented: { emitter: string; payload: string }) => Uint8Array,
): Promise<Intent[]> {
  const { contract: to, sent } = scene.receivers[target]
  const honest = await publish(scene, scene.receivers[target], firstByte.packaged)
  sent.push(honest.payload)
  const execute = (message: Uint8Array) => executeAbi.encodeFunctionData('executeVAAv1', [message])
  return [
    { to, data: execute(falselySigned(inventedMessage(scene, target, 'packaged'))), value: '0' },
    { to, data: execute(honest.bytes), value: String(coins) },
  ]
}

/** Publishes messages with requests to the Executor that pay nothing. Resolves with the signed messages. */
async function unpaidMessages({ devnet, locks }: AttackScene, target: Chain): Promise<readonly Uint8Array[]> {
  const network = devnet.executor
  if (!network) throw new Error('The devnet was started without an Executor')
  const source = target === 'ethereum' ? 'bsc' : 'ethereum'
  const [{ chain, sender }, { receiver, chain: to }] = [network.ends[source], network.ends[target]]
  const { signedQuote } = network.quoteOf(source, 'plain')
  const { abi } = await compiledArtifact('MessageSender')
  const instructions = instructionsOf({ gasLimit: network.gasLimit })
  const messages = await locks[source].run(async () => {
    const script = await Script.of(chain.anvil, devnet.outsiders[source])
    for (let count = 0; count < 3; count++) {
      const args = [hexlify(randomBytes(32)), to.wormholeChainId, `0x${toUniversal(receiver)}`, signedQuote, instructions]
      script.call(sender, abi, 'send', args)
    }
    return (await script.mine()).flatMap((one) => published(one, chain.core, chain.wormholeChainId))
  })
  const signed = messages.map(({ emitter, sequence }) => devnet.guardian.waitFor(chain.wormholeChainId, emitter, sequence))
  return (await Promise.all(signed)).map(({ bytes }) => bytes)
}
