import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { BridgeName } from '../../domain/transfer/transfer.ts'
import { toHex } from '../../domain/vaa.ts'

export const wormholeTokenBridge = 'wormhole-token-bridge' satisfies BridgeName

/** Bridge.sol, parseTransfer and parseTransferWithPayload. Amounts have at most 8 decimals. */
export interface TokenTransfer {
  /** 1: anyone may redeem and gets the fee. 3: only the recipient contract may redeem; no fee. */
  readonly kind: 1 | 3
  readonly amount: bigint
  /** The token on its native chain: `<wormhole chain id>/<64 lower-case hex digits>`, as in the config. */
  readonly originToken: string
  readonly originChain: number
  readonly originAddress: string
  /** The last 20 of the recipient's 32 bytes. 0x, lower case. */
  readonly recipient: string
  /** Wormhole chain id. */
  readonly targetChain: number
  /** In the VAA's units of the token; 0 for kind 3. */
  readonly fee: bigint
}

/** Layout: kind u8, amount u256, token, token's chain u16, recipient, target chain u16, fee u256 or sender. */
const transferBytes = 133

/** Payload 1 has exactly 133 bytes, payload 3 at least 133. Throws PAYLOAD_KIND, PAYLOAD_LENGTH. */
export function parseTokenTransfer(payload: Uint8Array): TokenTransfer {
  const kind = payload[0]
  if (kind !== 1 && kind !== 3) throw new RelayerError('PAYLOAD_KIND', { facts: { kind: kind ?? 'none' } })
  if (kind === 1 ? payload.length !== transferBytes : payload.length < transferBytes) {
    throw new RelayerError('PAYLOAD_LENGTH', { facts: { kind, bytes: payload.length } })
  }
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength)
  const originAddress = toHex(payload.subarray(33, 65))
  const originChain = view.getUint16(65)
  return {
    kind,
    amount: uint256(payload, 1),
    originToken: `${originChain}/${originAddress}`,
    originChain,
    originAddress,
    recipient: `0x${toHex(payload.subarray(79, 99))}`,
    targetChain: view.getUint16(99),
    fee: kind === 1 ? uint256(payload, 101) : 0n,
  }
}

function uint256(bytes: Uint8Array, at: number): bigint {
  return BigInt(`0x${toHex(bytes.subarray(at, at + 32))}`)
}
