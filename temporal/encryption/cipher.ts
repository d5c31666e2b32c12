import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'

const algorithm = 'aes-256-gcm'
/** NIST SP 800-38D, 8.2: 96 bits, here random, so that one key is good for 2^32 encryptions (8.3). */
const ivBytes = 12
const tagBytes = 16

/** IV, ciphertext and tag as one. @param bound is not in it, and must be the same when it is opened */
export function seal(key: KeyObject, plain: Uint8Array, bound: Uint8Array): Buffer {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagBytes })
  cipher.setAAD(bound)
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** What `seal` was given. Throws Error if a bit of it, of `bound` or of the key is another. */
export function open(key: KeyObject, sealed: Uint8Array, bound: Uint8Array): Buffer {
  if (sealed.length < ivBytes + tagBytes) throw new Error('too short')
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, ivBytes), { authTagLength: tagBytes })
  decipher.setAAD(bound)
  decipher.setAuthTag(sealed.subarray(-tagBytes))
  return Buffer.concat([decipher.update(sealed.subarray(ivBytes, -tagBytes)), decipher.final()])
}
