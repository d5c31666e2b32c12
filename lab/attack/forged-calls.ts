import { concat, getBytes, toBeHex, zeroPadValue } from 'ethers'
import { idOf, type NativeTransfer, toTransfer } from '../../bridges/native-bridge/message.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { signMessage } from '../devnet/cctp/attestations.ts'
import { cctpAbis } from '../devnet/cctp/cctp.ts'
import { completionOf, nativeBridgeAbi } from '../devnet/native/native-bridge.ts'
import { compiledArtifact } from '../devnet/chain/solidity.ts'
import { managerAbi, transceiverAbi } from '../devnet/ntt/ntt-contracts.ts'
import { signVaa, toUniversal } from '../devnet/wormhole/vaa.ts'
import { devnetAccount } from '../devnet/chain/accounts.ts'
import type { AttackScene } from './scene.ts'

/** Index of an account that signs like a guardian, but is not a guardian. */
export const falseGuardian = 99

/** Amount of an invented transfer, below the bridge's daily limit. */
export const booty = 10n ** 10n

type Chain = 'ethereum' | 'bsc'

/** A native transfer to the thief that no user initiated, with an id that the target's contract would accept. */
export function inventedTransfer(
  { devnet, thief }: AttackScene,
  target: Chain,
  nonce: bigint,
): { claim: NativeTransfer; transfer: Transfer; call(): Promise<Intent> } {
  const ends = devnet.native?.ends
  if (!ends) throw new Error('The devnet was started without a native bridge')
  const source = target === 'ethereum' ? ends.bsc : ends.ethereum
  const claim = { initiator: source.user.address, recipient: zeroPadValue(thief.address, 32).toLowerCase(), amount: booty, nonce }
  const id = idOf(claim)
  const route = {
    ...{ sourceChain: source.name, sourceNetworkId: String(source.anvil.chainId), sourceBridge: source.bridge },
    ...{ targetChain: target, targetBridge: ends[target].bridge },
  }
  return {
    claim: { ...claim, id },
    transfer: toTransfer(route, { ...claim, id }),
    async call() {
      const data = (await nativeBridgeAbi()).encodeFunctionData('completeBridgeTransfer', [...completionOf({ ...claim, id, height: 0 })])
      return { to: ends[target].bridge, data, value: '0' }
    },
  }
}

/** An NTT transfer to the thief that no user sent, encoded like a message of the source's transceiver. */
export function inventedNtt({ devnet, thief }: AttackScene, target: Chain): { emitter: string; payload: string } {
  const ends = devnet.ntt?.ends
  if (!ends) throw new Error('The devnet was started without NTT')
  const [from, to] = target === 'ethereum' ? [ends.bsc, ends.ethereum] : [ends.ethereum, ends.bsc]
  const word = (address: string) => `0x${toUniversal(address)}`
  const recipient = concat([word(thief.address), toBeHex(to.wormholeChainId, 2)])
  const transfer = concat(['0x994e5454', toBeHex(8, 1), toBeHex(booty, 8), word(from.token), recipient])
  const message = concat([toBeHex(booty, 32), word(thief.address), toBeHex(79, 2), transfer])
  const payload = concat(['0x9945ff10', word(from.manager), word(to.manager), toBeHex(145, 2), message, '0x0000'])
  return { emitter: toUniversal(from.transceivers[0] ?? ''), payload }
}

/** Calls for an NTT message that no guardian signed, and for a queued NTT transfer that does not exist. */
export function forgedNtt(scene: AttackScene, target: Chain, dice: number): Intent[] {
  const end = scene.devnet.ntt?.ends[target]
  if (!end) throw new Error('The devnet was started without NTT')
  const { wormholeChainId } = scene.devnet.chains[target === 'ethereum' ? 'bsc' : 'ethereum']
  const place = { timestamp: 1, vaaNonce: 0, emitterChain: wormholeChainId, sequence: inventedNonce(dice), consistencyLevel: 1 }
  const { bytes } = signVaa({ ...place, ...inventedNtt(scene, target) }, [devnetAccount(falseGuardian)])
  const receive = transceiverAbi.encodeFunctionData('receiveMessage', [bytes])
  const complete = managerAbi.encodeFunctionData('completeInboundQueuedTransfer', [toBeHex(inventedNonce(dice), 32)])
  return [
    { to: end.transceivers[0] ?? '', data: receive, value: '0' },
    { to: end.manager, data: complete, value: '0' },
  ]
}

/** Mints of CCTP v1 and v2 to the thief, without a burn. The signers are not attesters. */
export async function forgedMints({ devnet, thief }: AttackScene, target: Chain, dice: number): Promise<Intent[]> {
  const ends = devnet.cctp?.ends
  if (!ends) throw new Error('The devnet was started without CCTP')
  const [from, to] = target === 'ethereum' ? [ends.bsc, ends.ethereum] : [ends.ethereum, ends.bsc]
  const word = (value: string | bigint) => zeroPadValue(typeof value === 'string' ? value : toBeHex(value), 32)
  const signers = [devnetAccount(falseGuardian), devnetAccount(falseGuardian + 1)].toSorted((a, b) => (a.address < b.address ? -1 : 1))
  const abis = await cctpAbis()
  return ([1, 2] as const).map((version) => {
    const own = toBeHex(version - 1, 4)
    const nonce = toBeHex(inventedNonce(dice), version === 1 ? 8 : 32)
    const [sender, recipient] = [word(from.contracts[version].messenger), word(to.contracts[version].messenger)]
    const finality = version === 1 ? [] : [toBeHex(2_000, 4), toBeHex(2_000, 4)]
    const body = [own, word(from.token), word(thief.address), word(booty), word(thief.address)]
    const ofV2 = version === 1 ? [] : [0n, 0n, 0n].map(word)
    const head = [own, toBeHex(from.domain, 4), toBeHex(to.domain, 4), nonce, sender, recipient, word(0n), ...finality]
    const message = concat([...head, ...body, ...ofV2])
    const { transmitter } = to.contracts[version]
    const args = [message, signMessage(getBytes(message), signers)]
    return { to: transmitter, data: abis[version].transmitter.encodeFunctionData('receiveMessage', args), value: '0' }
  })
}

/** The forged NTT message and mints, in calls that also pay a drop-off from the lane's coins to the thief. */
export async function forgedDropOffs(scene: AttackScene, target: Chain, dice: number): Promise<Intent[]> {
  const { devnet, thief } = scene
  const network = devnet.executor
  if (!network) throw new Error('The devnet was started without an Executor')
  const { dropOffs } = network.paid[target]
  if (!dropOffs) throw new Error('The devnet was started without paid burns of CCTP')
  const abi = (await compiledArtifact('DropOffReceiver')).abi
  const value = String(10n ** 18n)
  const [receipt] = forgedNtt(scene, target, dice)
  const [bytes] = receipt ? transceiverAbi.decodeFunctionData('receiveMessage', receipt.data) : []
  const data = abi.encodeFunctionData('receiveMessages', [[receipt?.to], [bytes], thief.address])
  const abis = await cctpAbis()
  const mints = (await forgedMints(scene, target, dice)).map((mint, index) => {
    const { transmitter } = abis[index === 0 ? 1 : 2]
    const args = [...transmitter.decodeFunctionData('receiveMessage', mint.data), thief.address]
    return {
      to: dropOffs[index === 0 ? 'v1' : 'v2'],
      data: abi.encodeFunctionData('receiveMessage(bytes,bytes,address)', args),
      value,
    }
  })
  return [{ to: network.ends[target].dropOff, data, value }, ...mints]
}

/** A nonce far above the nonces of all users' transfers. */
export function inventedNonce(dice: number): bigint {
  return 1_000_000n + BigInt(Math.floor(dice * 1_000_000_000))
}

export function theft({ thief }: AttackScene): Intent {
  return { to: thief.address.toLowerCase(), data: '0x', value: String(10n ** 18n) }
}

export function approval({ devnet, thief }: AttackScene, chain: Chain): Intent {
  const spender = zeroPadValue(thief.address, 32).slice(2).toLowerCase()
  return { to: devnet.chains[chain].token, data: `0x095ea7b3${spender}${toBeHex(2n ** 255n, 32).slice(2)}`, value: '0' }
}
