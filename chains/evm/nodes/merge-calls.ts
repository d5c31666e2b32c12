import { groupBy } from '../../../domain/group-by.ts'
import { executesContracts, MalformedAnswer, RpcError, TransportError } from './node-errors.ts'

export interface PendingCall {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

/** Pause of merging (ms) after a refusal. Each further refusal doubles the pause. */
const pauseMs = 60_000
const longestPauseMs = 64 * pauseMs

interface ContractCall {
  readonly pending: PendingCall
  readonly to: string
  readonly data: string
}

const stallMs = 5

/**
 * Each kind of call has batches of its own, because a node answers a batch only as a whole, and strangers choose how
 * long the execution of a call takes, and how long logs are.
 */
function kindOf(method: string): 'executing' | 'logs' | 'other' {
  if (executesContracts(method)) return 'executing'
  return /Receipts?$|Logs$/.test(method) ? 'logs' : 'other'
}

type Send = (calls: readonly PendingCall[]) => void

export function createCallQueue(send: Send, most: () => number, origin: string, closing: AbortSignal) {
  const queue: PendingCall[] = []
  let stall: NodeJS.Timeout | undefined
  let nextId = 1
  const merged = createCallMerger(send, () => nextId++)
  const closed = () => new TransportError(origin, 'closed', false)

  function flush(): void {
    clearTimeout(stall)
    stall = undefined
    const calls = merged(queue.splice(0))
    for (const group of groupBy(calls, ({ method }) => kindOf(method)).values()) send(group)
  }

  closing.addEventListener('abort', () => {
    clearTimeout(stall)
    for (const { reject } of queue.splice(0)) reject(closed())
  })

  return async function request(method: string, params: readonly unknown[]): Promise<unknown> {
    if (closing.aborted) throw closed()
    return new Promise((resolve, reject) => {
      queue.push({ id: nextId++, method, params, resolve, reject })
      if (queue.length >= most()) flush()
      else stall ??= setTimeout(flush, stallMs)
    })
  }
}

function createCallMerger(send: Send, nextId: () => number) {
  let pausedUntil = -Infinity
  let refusals = 0

  function refused(): void {
    pausedUntil = performance.now() + Math.min(longestPauseMs, pauseMs * 2 ** refusals)
    refusals++
  }

  /** Sends each call by itself. If a call succeeds, merging was the problem, so merging pauses. */
  function sendEach(calls: readonly PendingCall[]): void {
    let isKnown = false
    const noted = (one: PendingCall): PendingCall => ({
      ...one,
      resolve(result) {
        if (!isKnown) refused()
        isKnown = true
        one.resolve(result)
      },
    })
    send(calls.map(noted))
  }

  function merge(group: readonly ContractCall[]): PendingCall {
    const all = group.map(({ pending }) => pending)
    return {
      id: nextId(),
      method: 'eth_call',
      params: [{ data: mergedData(group) }, all[0]?.params[1]],
      resolve(result) {
        const returned = readMerged(result, group.length)
        if (!returned) return sendEach(all)
        refusals = 0
        returned.forEach((bytes, index) => bytes !== undefined && all[index]?.resolve(bytes))
        send(all.filter((_, index) => returned[index] === undefined))
      },
      reject(error) {
        const isLimited = error instanceof RpcError && error.limited
        if (!isLimited && (error instanceof RpcError || error instanceof MalformedAnswer)) return sendEach(all)
        // The gateway may have refused the call because it was merged.
        if (!isLimited) refused()
        for (const { reject } of all) reject(error)
      },
    }
  }

  return function merged(calls: readonly PendingCall[]): readonly PendingCall[] {
    if (performance.now() < pausedUntil) return calls
    const { others, groups } = sorted(calls)
    return [...others, ...groups.flatMap((group) => (group.length > 1 ? [merge(group)] : group.map(({ pending }) => pending)))]
  }
}

function sorted(calls: readonly PendingCall[]) {
  const others: PendingCall[] = []
  const groups: ContractCall[][] = []
  const open = new Map<unknown, { room: number; readonly group: ContractCall[] }>()
  for (const pending of calls) {
    const call = contractCallOf(pending)
    if (!call) {
      others.push(pending)
      continue
    }
    const block = pending.params[1]
    const size = 2 * wordDigits + call.data.length - 2
    const before = open.get(block)
    const last = before && before.room >= size ? before : { room: mostDigits, group: [] }
    if (last !== before) groups.push(last.group)
    last.group.push(call)
    last.room -= size
    open.set(block, last)
  }
  return { others, groups }
}

function contractCallOf(pending: PendingCall): ContractCall | undefined {
  const { method, params } = pending
  if (method !== 'eth_call' || params.length !== 2 || typeof params[1] !== 'string') return undefined
  const { to, data, ...more } = (params[0] ?? {}) as Record<string, unknown>
  if (typeof to !== 'string' || typeof data !== 'string' || Object.keys(more).length > 0) return undefined
  return /^0x[0-9a-f]{40}$/i.test(to) && /^0x(?:[0-9a-f]{2})*$/i.test(data) ? { pending, to, data } : undefined
}

/**
 * Creation code that makes the calls appended to it (viem's "deployless" calls), on any EVM with STATICCALL. Form of a
 * call: address (a word), length of the data (a word), data. Form of a result: success (a word, 1 or 0), length (a
 * word), bytes. EIP-3541 does not apply, because the output begins with a zero byte and not with 0xEF.
 */
const code = [
  // Copies code and calls to memory. The stack has the offset of the next result (first: the end of the calls) and of
  // the next call (first: 0x4d, the end of the code).
  '38600060003938604d',
  // 0x09: goes to 0x45 if no call is left.
  '5b80381115604557',
  // staticcall(gas, address, data, length, 0, 0)
  '6000600082602001518360400184515afa',
  // Stores the success, the length and the returned bytes.
  '82523d82602001523d6000836040013e',
  // Advances to the next call and result, and starts again.
  '806020015101604001903d0160400190600956',
  // 0x45: returns the results.
  '5b503880910390f3',
].join('')

const wordDigits = 64
/** Limit of 16 KiB, in hex digits. Creation code may have 48 KiB (EIP-3860), and its output 24 KiB (EIP-170). */
const mostDigits = 2 * 16_384

const word = (digits: string) => digits.toLowerCase().padStart(wordDigits, '0')

export function mergedData(calls: readonly ContractCall[]): string {
  const entries = calls.map(({ to, data }) => word(to.slice(2)) + word(((data.length - 2) / 2).toString(16)) + data.slice(2))
  return `0x${code}${entries.join('')}`
}

function readMerged(result: unknown, calls: number): readonly (string | undefined)[] | undefined {
  if (typeof result !== 'string' || !/^0x(?:[0-9a-f]{2})*$/i.test(result)) return undefined
  const returned: (string | undefined)[] = []
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
