import { keccak256 } from 'ethers'
import { transferId } from '../../temporal/contracts/names.ts'
import type { SentBurn } from './cctp/cctp-users.ts'
import type { SentExecution } from './executor/network.ts'
import type { SentNativeTransfer } from './native/native-users.ts'
import type { SentNttTransfer } from './ntt/ntt-users.ts'
import type { SentTransfer } from './wormhole/users.ts'

export type AnySent = SentTransfer | SentNativeTransfer | SentNttTransfer | SentExecution | SentBurn

export function isNative(sent: AnySent): sent is SentNativeTransfer {
  return 'nonce' in sent
}

export function isNtt(sent: AnySent): sent is SentNttTransfer {
  return 'messages' in sent
}

export function isExecution(sent: AnySent): sent is SentExecution {
  return 'dropOff' in sent
}

export function isBurn(sent: AnySent): sent is SentBurn {
  return 'version' in sent
}

function isWormhole(sent: AnySent): sent is SentTransfer {
  return !isNative(sent) && !isNtt(sent) && !isExecution(sent) && !isBurn(sent)
}

export function byBridge(sent: readonly AnySent[]) {
  return {
    wormhole: sent.filter(isWormhole),
    native: sent.filter(isNative),
    ntt: sent.filter(isNtt),
    executor: sent.filter(isExecution),
    cctp: sent.filter(isBurn),
  }
}

/** `source:emitter:sequence`. The source is a chain name. */
export function keyOf(sent: AnySent): string {
  return `${sent.source}:${sent.emitter}:${isNative(sent) ? sent.nonce : sent.sequence}`
}

export function nativeTransferId({ sourceNetworkId, emitter, nonce, id }: SentNativeTransfer): string {
  return transferId({
    bridge: 'native-bridge',
    sourceId: String(sourceNetworkId),
    emitter,
    sequence: String(nonce),
    digest: id,
  })
}

export function burnTransferId({ sourceNetworkId, emitter, sequence, message }: SentBurn): string {
  return transferId({
    bridge: 'cctp',
    sourceId: String(sourceNetworkId),
    emitter,
    sequence: String(sequence),
    digest: keccak256(message),
  })
}

export function idWithoutDigest(sent: AnySent): string {
  const without = (id: string) => id.split(':').slice(0, 4).join(':')
  if (isNative(sent)) return without(nativeTransferId(sent))
  if (isBurn(sent)) return without(burnTransferId(sent))
  const bridge = isNtt(sent) ? 'ntt' : isExecution(sent) ? 'executor' : 'wormhole-token-bridge'
  return `${bridge}:${sent.emitterChain}:${sent.emitter}:${sent.sequence}`
}
