import { getBytes, keccak256 } from 'ethers'
import { curveOrder, toNumber } from '../../chains/crypto/curve.ts'
import { secp256k1 } from '../../chains/crypto/secp256k1.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'

/** Length of one attester's signature: r, s, v. */
export const signatureBytes = 65

/** A message with the signatures of Circle's attesters. Both are arguments of `receiveMessage`. */
export interface Attested {
  readonly bytes: Uint8Array
  readonly attestation: Uint8Array
}

export interface Attesters {
  readonly threshold: number
  /** Addresses, lower case. */
  readonly enabled: ReadonlySet<string>
}

/** Checks the signatures as Attestable.sol and OpenZeppelin's ECDSA do. Throws CCTP_ATTESTATION. */
export function checkAttestation({ bytes, attestation }: Attested, { threshold, enabled }: Attesters): void {
  if (threshold === 0 || attestation.length !== threshold * signatureBytes)
    throw refused('Its length does not fit the threshold.', { bytes: attestation.length, threshold })
  const digest = getBytes(keccak256(bytes))
  let last = ''
  for (let start = 0; start < attestation.length; start += signatureBytes) {
    const attester = attesterOf(digest, attestation.subarray(start, start + signatureBytes))
    if (attester === undefined) throw refused('A signature is malformed.', { place: start / signatureBytes })
    if (attester <= last) throw refused('The attesters are not in ascending order.', { attester })
    if (!enabled.has(attester)) throw refused('The target contract has not enabled an attester.', { attester })
    last = attester
  }
}

/** Undefined for a signature that the contract refuses, such as one with a high s (EIP-2). */
function attesterOf(digest: Uint8Array, signature: Uint8Array): string | undefined {
  const v = signature[64] ?? 0
  if ((v !== 27 && v !== 28) || toNumber(signature.subarray(32, 64)) > curveOrder / 2n) return undefined
  return secp256k1().recover(digest, signature.subarray(0, 64), v - 27)
}

function refused(detail: string, facts: Readonly<Record<string, string | number>>): RelayerError {
  return new RelayerError('CCTP_ATTESTATION', { detail, facts })
}
