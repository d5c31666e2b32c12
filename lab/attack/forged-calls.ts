import { toBeHex, zeroPadValue } from 'ethers'
import { idOf, type NativeTransfer, toTransfer } from '../../bridges/native-bridge/message.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { completionOf, nativeBridgeAbi } from '../devnet/native/native-bridge.ts'
import type { AttackScene } from './scene.ts'

/** The amount of an invented transfer: enough to be missed, less than the daily limit. */
const booty = 10n ** 10n

type Chain = 'ethereum' | 'bsc'

/** A native transfer to the thief that no user initiated. Its id is right, so the target's contract would pay it. */
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

/** A nonce far above what users reach, so that it collides with nothing. */
export function inventedNonce(dice: number): bigint {
  return 1_000_000n + BigInt(Math.floor(dice * 1_000_000_000))
}

/** All coins of a lane to the thief. */
export function theft({ thief }: AttackScene): Intent {
  return { to: thief.address.toLowerCase(), data: '0x', value: String(10n ** 18n) }
}

/** `approve` of the bridge's token for the thief, from a lane. */
export function approval({ devnet, thief }: AttackScene, chain: Chain): Intent {
  const spender = zeroPadValue(thief.address, 32).slice(2).toLowerCase()
  return { to: devnet.chains[chain].token, data: `0x095ea7b3${spender}${toBeHex(2n ** 255n, 32).slice(2)}`, value: '0' }
}
