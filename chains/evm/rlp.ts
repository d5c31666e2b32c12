const limit256 = 2n ** 256n

/** RLP of a number: its bytes without leading zeros. Throws RangeError. */
export function number(value: bigint): Buffer {
  if (value < 0n || value >= limit256) throw new RangeError('A number is below 0, or has more than 32 bytes.')
  if (value === 0n) return string(Buffer.alloc(0))
  const digits = value.toString(16)
  return string(Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex'))
}

/** RLP of bytes (Yellow Paper, appendix B): a byte below 0x80 stands for itself. */
export function string(bytes: Buffer): Buffer {
  return bytes.length === 1 && (bytes[0] ?? 0) < 0x80 ? bytes : Buffer.concat([header(0x80, bytes.length), bytes])
}

/** RLP of a list of items that are encoded already. */
export function list(...items: readonly Buffer[]): Buffer {
  const length = items.reduce((sum, item) => sum + item.length, 0)
  return Buffer.concat([header(0xc0, length), ...items])
}

function header(offset: number, length: number): Buffer {
  if (length <= 55) return Buffer.from([offset + length])
  const digits = length.toString(16)
  const bytes = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
  return Buffer.concat([Buffer.from([offset + 55 + bytes.length]), bytes])
}
