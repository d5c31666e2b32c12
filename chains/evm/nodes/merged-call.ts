export interface ContractCall {
  readonly to: string
  readonly data: string
}

/** Undefined: the call failed. Only a separate call returns its error. */
type Returned = string | undefined

/**
 * Creation code that makes the appended calls (viem's "deployless" calls). Runs on any EVM with STATICCALL.
 * Input per call: a word each for address and length, then data. Output: 1 or 0 and length, then bytes.
 * The first byte is never 0xEF, which code must not begin with (EIP-3541).
 */
const code = [
  // Copies everything to memory. The stack holds the places of the next result and call (first at 0x4d).
  '38600060003938604d',
  // 0x09: done (0x45) if no call is left.
  '5b80381115604557',
  // staticcall(gas, address, data, length, 0, 0)
  '6000600082602001518360400184515afa',
  // Stores success, length and returned bytes.
  '82523d82602001523d6000836040013e',
  // Advances to the next call and result, and repeats.
  '806020015101604001903d0160400190600956',
  // 0x45: returns the results.
  '5b503880910390f3',
].join('')

const wordDigits = 64
/** Far below the limits of creation code (48 KiB, EIP-3860) and of returned code (24 KiB, EIP-170). */
const mostDigits = 2 * 16_384

const word = (digits: string) => digits.toLowerCase().padStart(wordDigits, '0')

const sizeOf = ({ data }: ContractCall) => 2 * wordDigits + data.length - 2

export function groupsOf<Call extends { readonly call: ContractCall }>(calls: readonly Call[]): readonly (readonly Call[])[] {
  const groups: Call[][] = []
  let room = 0
  for (const one of calls) {
    const size = sizeOf(one.call)
    if (room < size) {
      groups.push([])
      room = mostDigits
    }
    groups.at(-1)?.push(one)
    room -= size
  }
  return groups
}

export function mergedData(calls: readonly ContractCall[]): string {
  const entries = calls.map(({ to, data }) => word(to.slice(2)) + word(((data.length - 2) / 2).toString(16)) + data.slice(2))
  return `0x${code}${entries.join('')}`
}

/** Undefined if the answer does not fit the calls. */
export function readMerged(result: unknown, calls: number): readonly Returned[] | undefined {
  if (typeof result !== 'string' || !/^0x(?:[0-9a-f]{2})*$/i.test(result)) return undefined
  const returned: Returned[] = []
  let at = 2
  for (let index = 0; index < calls; index++) {
    const success = BigInt(`0x${result.slice(at, at + wordDigits) || 0}`)
    const digits = 2 * Number(`0x${result.slice(at + wordDigits, at + 2 * wordDigits)}`)
    const from = at + 2 * wordDigits
    at = from + digits
    if (success > 1n || !(at <= result.length)) return undefined
    returned.push(success === 1n ? `0x${result.slice(from, at)}` : undefined)
  }
  return at === result.length ? returned : undefined
}

/** Inverse of `mergedData`, for simulated nodes. */
export function callsOfMerged(data: string): readonly ContractCall[] | undefined {
  const prefix = `0x${code}`
  if (!data.startsWith(prefix)) return undefined
  const calls: ContractCall[] = []
  for (let at = prefix.length; at < data.length;) {
    const to = `0x${data.slice(at + 24, at + wordDigits)}`
    const from = at + 2 * wordDigits
    at = from + 2 * Number(`0x${data.slice(at + wordDigits, from)}`)
    calls.push({ to, data: `0x${data.slice(from, at)}` })
  }
  return calls
}

export function mergedResult(returned: readonly Returned[]): string {
  const entries = returned.map(
    (bytes) => word(bytes === undefined ? '0' : '1') + word((((bytes?.length ?? 2) - 2) / 2).toString(16)) + (bytes ?? '0x').slice(2),
  )
  return `0x${entries.join('')}`
}
