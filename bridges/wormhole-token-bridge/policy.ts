import { RelayerError } from '../../domain/errors.ts'
import type { TokenTransfer } from './payload.ts'

/** What is delivered to one target chain, and for how much. Tokens are `<wormhole chain id>/<64 lower-case hex digits>` of where they are native. */
export interface PolicyOptions {
  /** Origin tokens that are delivered; absent: all. */
  readonly assets?: readonly string[]
  /** Origin token → least fee, decimal, in the token's units as the VAA carries them (at most 8 decimals). Absent: 0. */
  readonly minimumFees?: Readonly<Record<string, string>>
  /**
   * Recipient contract (lower-case 0x address) → its function that redeems a payload 3, as `name(bytes)`: it gets the signed VAA. Only that
   * contract may redeem such a transfer.
   */
  readonly calls?: Readonly<Record<string, string>>
}

/** The checks that are ours, not the protocol's. The returned function throws PAYLOAD_WITH_CALL, ASSET_UNSUPPORTED, FEE_TOO_LOW. */
export function createPolicy({ assets, minimumFees = {}, calls = {} }: PolicyOptions) {
  const allowed = assets && new Set(assets)
  return function judge({ kind, recipient, originToken, fee }: TokenTransfer): void {
    const contract = `0x${recipient.slice(24)}`
    if (kind === 3 && calls[contract] === undefined) throw new RelayerError('PAYLOAD_WITH_CALL', { facts: { recipient: contract } })
    if (allowed && !allowed.has(originToken)) throw new RelayerError('ASSET_UNSUPPORTED', { facts: { token: originToken } })
    const minimum = minimumFees[originToken]
    // A payload 3 has no fee: a configured call is delivered for nothing.
    if (kind === 1 && minimum !== undefined && fee < BigInt(minimum))
      throw new RelayerError('FEE_TOO_LOW', { facts: { token: originToken, fee: String(fee), minimum } })
  }
}
