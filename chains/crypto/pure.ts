import { getBytes, hexlify, Signature, SigningKey } from 'ethers'
import { addressOfKey, curveOrder, isRecoverable, type Secp256k1, toNumber, toWord, wordBytes } from './curve.ts'

/** JavaScript (ethers with @noble/curves) for platforms without a native build, about 30 times slower. */
export function pure(): Secp256k1 {
  return {
    name: 'pure',
    sign(digest, privateKey) {
      const { r, s, yParity } = signed(digest, privateKey)
      return { compact: getBytes(r + s.slice(2)), yParity }
    },
    recover(digest, compact, yParity) {
      if (!isRecoverable(digest, compact, yParity)) return undefined
      const s = toNumber(compact.subarray(wordBytes))
      // ethers accepts only the lower half of s, ecrecover both: (s, v) and (order - s, 1 - v) are the same signature.
      const isHigh = s > curveOrder / 2n && s < curveOrder
      const r = hexlify(compact.subarray(0, wordBytes))
      const low = hexlify(toWord(isHigh ? curveOrder - s : s))
      try {
        const signature = Signature.from({ r, s: low, yParity: (isHigh ? 1 - yParity : yParity) as 0 | 1 })
        return addressOfKey(getBytes(SigningKey.recoverPublicKey(digest, signature)))
      } catch {
        return undefined
      }
    },
  }
}

function signed(digest: Uint8Array, privateKey: Uint8Array): Signature {
  try {
    return new SigningKey(hexlify(privateKey)).sign(digest)
  } catch {
    // No cause: it may quote the key.
    throw new RangeError('The digest must have 32 bytes and the private key must be of this curve.')
  }
}
