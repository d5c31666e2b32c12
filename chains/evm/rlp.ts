const limit256 = 2n ** 256n

export function number(value: bigint): Buffer {
  if (value < 0n || value >= limit256) throw new RangeError('A number is below 0 or has more than 32 bytes.')
  return string(value === 0n ? Buffer.alloc(0) : bytesOf(value))
}

/** A single byte below 0x80 is its own encoding (yellow paper, appendix B). */
export function string(bytes: Buffer): Buffer {
  return bytes.length === 1 && (bytes[0] ?? 0) < 0x80 ? bytes : Buffer.concat([header(0x80, bytes.length), bytes])
}

export function list(...items: readonly Buffer[]): Buffer {
  const length = items.reduce((sum, item) => sum + item.length, 0)
  return Buffer.concat([header(0xc0, length), ...items])
}

function header(offset: number, length: number): Buffer {
  if (length <= 55) return Buffer.from([offset + length])
  const bytes = bytesOf(length)
  return Buffer.concat([Buffer.from([offset + 55 + bytes.length]), bytes])
}

function bytesOf(value: bigint | number): Buffer {
  const digits = value.toString(16)
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
}
