/** What stands before the argument: its offset, one word, and its length. */
const offset = '20'.padStart(64, '0')
const headDigits = 10 + 2 * 64

/** The ABI encoding of a call `name(bytes)`, 0x. By hand: ethers takes some hundred times as long, for each delivery several times. */
export function encodeBytesCall(selector: string, argument: Uint8Array): string {
  const digits = Buffer.from(argument).toString('hex')
  return `${selector.toLowerCase()}${offset}${argument.length.toString(16).padStart(64, '0')}${digits.padEnd(paddedDigits(argument.length), '0')}`
}

/** The argument of such a call; undefined unless the call is exactly what its encoding gives again: the same offset, no other length, zeros behind, nothing after. */
export function decodeBytesCall(data: string): Uint8Array | undefined {
  const text = data.toLowerCase()
  if (!/^0x[0-9a-fA-F]*$/.test(data) || text.length < headDigits || text.slice(10, 74) !== offset) return undefined
  // 48 bits are more than any text has.
  if (!/^0{52}/.test(text.slice(74, headDigits))) return undefined
  const length = Number.parseInt(text.slice(74, headDigits), 16)
  const padded = paddedDigits(length)
  const end = headDigits + 2 * length
  if (text.length !== headDigits + padded || /[^0]/.test(text.slice(end))) return undefined
  return Buffer.from(text.slice(headDigits, end), 'hex')
}

function paddedDigits(length: number): number {
  return Math.ceil(length / 32) * 64
}
