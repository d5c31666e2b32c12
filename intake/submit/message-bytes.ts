import { RelayerError } from '../../domain/catalogue/errors.ts'

const hex = /^(0x)?([0-9a-f]{2})+$/i
/** Hex with a missing digit. Also a text in base64 that begins with `0x`, as no message does. */
const oddHex = /^(0x.*|[0-9a-f]+)$/i
const base64 = /^[A-Za-z0-9+/_-]+={0,2}$/

/** Hex or base64 (also URL-safe). Text that is both is hex: base64 VAAs start with `AQ`. Throws MESSAGE_ENCODING. */
export function messageBytes(text: string): Uint8Array {
  const trimmed = text.replaceAll(/\s+/g, '')
  if (hex.test(trimmed)) return Buffer.from(trimmed.replace(/^0x/i, ''), 'hex')
  if (oddHex.test(trimmed)) throw new RelayerError('MESSAGE_ENCODING', { facts: { characters: trimmed.length } })
  // Buffer ignores invalid characters, so they are refused here. Base64 never has a single character in its last group.
  const padding = trimmed.indexOf('=')
  const digits = padding < 0 ? trimmed : trimmed.slice(0, padding)
  if (base64.test(trimmed) && digits.length % 4 !== 1) return Buffer.from(digits, 'base64')
  throw new RelayerError('MESSAGE_ENCODING', { facts: { characters: trimmed.length } })
}
