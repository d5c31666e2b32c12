import { RelayerError } from '../../domain/catalogue/errors.ts'

const hex = /^(0x)?([0-9a-f]{2})+$/i
/** Hex with an odd number of digits, or `0x` with other text. Never a VAA in base64, which begins with `AQ`. */
const oddHex = /^(0x.*|[0-9a-f]+)$/i
const base64 = /^[A-Za-z0-9+/_-]+={0,2}$/

/**
 * Decodes hex or base64. An ambiguous text counts as hex, because a VAA in base64 begins with `AQ`. Throws
 * MESSAGE_ENCODING.
 */
export function messageBytes(text: string): Uint8Array {
  const trimmed = text.replaceAll(/\s+/g, '')
  if (hex.test(trimmed)) return Buffer.from(trimmed.replace(/^0x/i, ''), 'hex')
  if (oddHex.test(trimmed)) throw new RelayerError('MESSAGE_ENCODING', { facts: { characters: trimmed.length } })
  // Buffer ignores invalid characters. The last group of base64 never has one character.
  const padding = trimmed.indexOf('=')
  const digits = padding < 0 ? trimmed : trimmed.slice(0, padding)
  if (base64.test(trimmed) && digits.length % 4 !== 1) return Buffer.from(digits, 'base64')
  throw new RelayerError('MESSAGE_ENCODING', { facts: { characters: trimmed.length } })
}
