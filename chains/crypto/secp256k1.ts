import { addressOfKey, curveOrder, isRecoverable, type Secp256k1, toBigint, toWord, wordBytes } from './curve.ts'
import { createRequire } from 'node:module'
import { getBytes, hexlify, Signature, SigningKey } from 'ethers'

let chosen: Secp256k1 | undefined

export function secp256k1(): Secp256k1 {
  return (chosen ??= native() ?? pure())
}

interface Library {
  ecdsaSign(digest: Uint8Array, privateKey: Uint8Array): { readonly signature: Uint8Array; readonly recid: number }
  ecdsaRecover(compact: Uint8Array, recoveryId: number, digest: Uint8Array, compressed: boolean): Uint8Array
}

export function native(): Secp256k1 | undefined {
  try {
    // Loads the bindings by path, because the package's own fallback is not installed (package.json, overrides).
    const require = createRequire(import.meta.url)
    const made = over(require('secp256k1/bindings') as Library)
    return isSound(made) ? made : undefined
  } catch {
    return undefined
  }
}

function over(library: Library): Secp256k1 {
  return {
    name: 'native',
    sign(digest, privateKey) {
      const { signature: compact, recid } = library.ecdsaSign(reduced(digest), privateKey)
      if (recid !== 0 && recid !== 1) throw new RangeError('The signature has an r that Ethereum cannot recover.')
      return { compact, yParity: recid }
    },
    recover(digest, compact, yParity) {
      if (!isRecoverable(digest, compact, yParity)) return undefined
      try {
        return addressOfKey(library.ecdsaRecover(compact, yParity, digest, false))
      } catch {
        return undefined
      }
    },
  }
}

/**
 * Returns the digest modulo the curve order: RFC 6979 derives `k` from this value, but libsecp256k1 does not reduce.
 */
function reduced(digest: Uint8Array): Uint8Array {
  const number = toBigint(digest)
  return digest.length !== wordBytes || number < curveOrder ? digest : toWord(number - curveOrder)
}

const known = {
  digest: new Uint8Array(wordBytes).fill(3),
  key: new Uint8Array(wordBytes).fill(1),
  address: '0x1a642f0e3c3af545e7acbd38b07251b3990914f1',
  signature:
    'd020bd8223bc9d803084ad35b8a93586f087a0d7e22e49f7a14ddeb84b27518f1a511bf8a5ecd88bbf811dc9a12aaacc3a28a7c45cde8b7c7d4e2219d4c45d1a',
}

function isSound({ sign, recover }: Secp256k1): boolean {
  const { compact, yParity } = sign(known.digest, known.key)
  return Buffer.from(compact).toString('hex') === known.signature && recover(known.digest, compact, yParity) === known.address
}

/** The library in JavaScript, which is about 30 times slower than the native one. */
export function pure(): Secp256k1 {
  return {
    name: 'pure',
    sign(digest, privateKey) {
      try {
        const { r, s, yParity } = new SigningKey(hexlify(privateKey)).sign(digest)
        return { compact: getBytes(r + s.slice(2)), yParity }
      } catch {
        throw new RangeError('The digest must have 32 bytes and the private key must be of this curve.')
      }
    },
    recover(digest, compact, yParity) {
      if (!isRecoverable(digest, compact, yParity)) return undefined
      const s = toBigint(compact.subarray(wordBytes))
      // ethers refuses a high s, which ecrecover accepts. (s, v) and (order - s, 1 - v) are the same signature.
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
