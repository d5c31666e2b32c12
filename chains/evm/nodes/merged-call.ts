/** A read of a contract, as `eth_call` takes it. */
export interface ContractCall {
  readonly to: string
  readonly data: string
}

/** What one of the calls came to; undefined: it failed, and only a call of its own tells how. */
type Returned = string | undefined

/**
 * Creation code that makes the calls that stand behind it and returns what they returned: one `eth_call` without a recipient reads many contracts, and needs none of
 * its own on the chain (viem has the same as "deployless" calls). Written for the first EVM that has STATICCALL. Behind the code, for each call: address and length
 * in a word each, then the data. Returned, for each: 1 or 0 (it failed) and the length in a word each, then the bytes. So the first byte is never 0xEF, with which no
 * code may begin (EIP-3541).
 */
const code = [
  // Copies all of it to memory. On the stack from here on: where the next result goes, and where the next call is read (first behind these 0x4d bytes).
  '38600060003938604d',
  // 0x09: done (0x45), if no call is left.
  '5b80381115604557',
  // staticcall(gas, address, data, length, 0, 0)
  '6000600082602001518360400184515afa',
  // Stores success, length and bytes of what came.
  '82523d82602001523d6000836040013e',
  // The next call, the next result; again.
  '806020015101604001903d0160400190600956',
  // 0x45: returns the results.
  '5b503880910390f3',
].join('')

const wordDigits = 64
/** EIP-3860 allows 48 KiB of creation code, and what it returns is limited as code is (24 KiB, EIP-170): far below both, whatever is returned in a word or some. */
const mostDigits = 2 * 16_384

const word = (digits: string) => digits.toLowerCase().padStart(wordDigits, '0')

/** How much room a call takes, hex digits. */
const sizeOf = ({ data }: ContractCall) => 2 * wordDigits + data.length - 2

/** In as few groups as merged calls have room for. */
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

/** The data of the one `eth_call` for all of these. */
export function mergedData(calls: readonly ContractCall[]): string {
  const entries = calls.map(({ to, data }) => word(to.slice(2)) + word(((data.length - 2) / 2).toString(16)) + data.slice(2))
  return `0x${code}${entries.join('')}`
}

/** What so many calls returned, in order; undefined: it is no answer to them. */
export function readMerged(result: unknown, calls: number): readonly Returned[] | undefined {
  if (typeof result !== 'string' || !/^0x(?:[0-9a-f]{2})*$/i.test(result)) return undefined
  const returned: Returned[] = []
  let at = 2
  for (let index = 0; index < calls; index++) {
    const success = BigInt(`0x${result.slice(at, at + wordDigits) || 0}`)
    const digits = 2 * Number(`0x${result.slice(at + wordDigits, at + 2 * wordDigits)}`)
    const from = at + 2 * wordDigits
    at = from + digits
    // Also where the length is no number.
    if (success > 1n || !(at <= result.length)) return undefined
    returned.push(success === 1n ? `0x${result.slice(from, at)}` : undefined)
  }
  return at === result.length ? returned : undefined
}

/** The calls of such data; undefined: it is none. For nodes of tests, which answer each by itself. */
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

/** The answer to such data; undefined stands for a call that failed. */
export function mergedResult(returned: readonly Returned[]): string {
  const entries = returned.map(
    (bytes) => word(bytes === undefined ? '0' : '1') + word((((bytes?.length ?? 2) - 2) / 2).toString(16)) + (bytes ?? '0x').slice(2),
  )
  return `0x${entries.join('')}`
}
