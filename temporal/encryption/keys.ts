import { createSecretKey, type KeyObject } from 'node:crypto'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { PayloadEncryption, PayloadKeySource } from '../../domain/temporal-access.ts'

const keyBytes = 32

/** Printing it shows nothing: Node holds the key outside JavaScript. */
export interface PayloadKey {
  readonly id: string
  readonly key: KeyObject
}

/** Throws ENCRYPTION_KEY if a key is unreadable, or is not 32 bytes in base64 or hex. */
export function readPayloadKeys({ keys }: PayloadEncryption): PayloadKey[] {
  return keys.map((source) => ({ id: source.id, key: createSecretKey(bytesOf(source)) }))
}

function bytesOf({ id, source }: PayloadKeySource): Buffer {
  const facts = { key: id, file: source.file, from: source.from }
  let text: string
  try {
    text = source.read().trim()
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? 'unknown reason'
    throw new RelayerError('ENCRYPTION_KEY', { detail: `it cannot be read (${reason})`, facts })
  }
  const bytes = /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64')
  // Buffer skips characters that are no base64.
  const isBase64 = bytes.toString('base64').replace(/=$/, '') === text.replace(/=$/, '')
  if (bytes.length === keyBytes && (isBase64 || text.length === 2 * keyBytes)) return bytes
  // Not shown: it may be a key with a typing error.
  throw new RelayerError('ENCRYPTION_KEY', { detail: 'it is not 32 bytes in base64 or hex', facts })
}
