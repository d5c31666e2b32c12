import { z } from 'zod'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { printable } from '../../domain/text/printable.ts'
import { keptReads } from '../../runtime/shared-read.ts'
import { createHttpHost, type HttpHostOptions } from './http-host.ts'

export interface IrisOptions extends Partial<Pick<HttpHostOptions, 'timeoutMs' | 'parallel' | 'mostBytes' | 'mostBytesAtOnce'>> {
  /** In the order of requests. Only origins are shown, because paths may contain keys. */
  readonly urls: readonly string[]
  /**
   * Maximum requests per second and URL. Default: 20. Circle refuses an IP address that sends more than 35 per second.
   */
  readonly perSecond?: number
  /** Minimum pause after HTTP 429, ms. Default: 5 minutes, in which Circle refuses all requests. */
  readonly restAfter429Ms?: number
}

export interface AttestedMessage {
  readonly bytes: Uint8Array
  readonly attestation: Uint8Array
}

/** `why` has the answer of each API. */
export type IrisFound<T> = { readonly kind: 'found'; readonly value: T } | { readonly kind: 'pending'; readonly why: string }

/** Answer of an API. `againInMs`: time until the API takes questions again. Absent: the API works. */
interface Said<T> {
  readonly value?: T | undefined
  readonly why: string
  readonly againInMs?: number | undefined
}

const hex = z.string().regex(/^0x([0-9a-fA-F]{2}){1,200000}$/)
/** Operators see the state, so its control characters are removed. */
const state = z.string().max(100).transform(printable)
const entryShape = z.object({ status: state, message: hex, attestation: hex })
const pendingShape = z.object({ status: state, delayReason: state.nullish() })
const messagesShape = z.object({ messages: z.array(z.unknown()).max(10_000) })
const attestationShape = z.object({ status: state, attestation: z.string().max(20_000).nullish() })

/**
 * A stranger may put many burns with long hooks into one transaction, and the answer has each hook three times. 2^24
 * gas pay for an answer of 8 MB, and a transaction on Arbitrum may use twice as much gas.
 */
const sizes = { mostBytes: 16_000_000, mostBytesAtOnce: 32_000_000 } as const

/** APIs by URL. Each API limits the requests of the whole process, so all clients share the API. */
const known = new Map<string, Api>()

type Api = ReturnType<typeof createApi>

function createApi(options: HttpHostOptions) {
  const host = createHttpHost(options)

  async function ask<T>(path: string, read: (body: unknown) => Said<T>, method: 'GET' | 'POST' = 'GET'): Promise<Said<T>> {
    const answer = await host.ask(path, method)
    if (answer.kind === 'found') return read(answer.body)
    if (answer.kind === 'absent') return { why: 'not seen yet' }
    return { why: answer.why, againInMs: answer.isOfQuestion ? undefined : answer.againInMs }
  }

  /** All burns of a transaction are looked up at the same time, so their lookups share a request that is under way. */
  const sharing = { fromAnswer: 0 }
  return {
    origin: host.origin,
    messages: keptReads((path: string) => ask(path, messagesIn), sharing),
    attestation: keptReads((path: string) => ask(path, attestationIn), sharing),
    post: (path: string) => ask(path, () => ({ value: true, why: '' }), 'POST'),
  }
}

/** A client of Circle's attestation API ("Iris"). Does not check signatures. */
export function createIris({ urls, perSecond = 20, parallel = 8, restAfter429Ms = 300_000, ...limits }: IrisOptions) {
  const apis = urls.map((url) => {
    const api = known.get(url) ?? createApi({ url, parallel, perSecond, restAfter429Ms, ...sizes, ...limits })
    known.set(url, api)
    return api
  })

  async function ask<A, T>(question: (api: Api) => Promise<Said<A>>, pick: (answer: A) => Promise<T | undefined>): Promise<IrisFound<T>> {
    const refusals: string[] = []
    const waits: number[] = []
    for (const api of apis) {
      const { value: answer, why, againInMs } = await question(api)
      const value = answer === undefined ? undefined : await pick(answer)
      if (value !== undefined) return { kind: 'found', value }
      if (againInMs !== undefined) waits.push(againInMs)
      refusals.push(`${api.origin}: ${why}`)
    }
    const detail = refusals.join('; ')
    if (waits.length < apis.length) return { kind: 'pending', why: detail }
    throw new RelayerError('IRIS_UNAVAILABLE', { detail, facts: { againInMs: Math.ceil(Math.min(...waits)) } })
  }

  return {
    /**
     * `pick` gets the attested messages in the order of the logs. Further APIs are asked until `pick` returns a value.
     */
    ofTransaction<T>(
      { domain, txHash }: { readonly domain: number; readonly txHash: string },
      pick: (messages: readonly AttestedMessage[]) => Promise<T | undefined>,
    ): Promise<IrisFound<T>> {
      return ask(({ messages }) => messages.get(`v2/messages/${domain}?transactionHash=${txHash}`), pick)
    },
    ofHash<T>(hash: string, pick: (attestation: Uint8Array) => Promise<T | undefined>): Promise<IrisFound<T>> {
      return ask(({ attestation }) => attestation.get(`v1/attestations/${hash}`), pick)
    },
    /** Throws IRIS_UNAVAILABLE if no API takes the request. */
    async reattest(nonce: string): Promise<void> {
      const answer = await ask(
        ({ post }) => post(`v2/reattest/${nonce}`),
        async () => true,
      )
      if (answer.kind === 'pending') throw new RelayerError('IRIS_UNAVAILABLE', { detail: answer.why, facts: { nonce } })
    },
  }
}

function messagesIn(body: unknown): Said<readonly AttestedMessage[]> {
  const { data } = messagesShape.safeParse(body)
  if (!data) return { why: 'an answer without messages' }
  const complete = data.messages.flatMap((message) => attestedIn(message))
  return { value: complete.length > 0 ? complete : undefined, why: statesOf(data.messages) }
}

function attestedIn(entry: unknown): readonly AttestedMessage[] {
  const { data } = entryShape.safeParse(entry)
  return data?.status === 'complete' ? [{ bytes: bytesOf(data.message), attestation: bytesOf(data.attestation) }] : []
}

function attestationIn(body: unknown): Said<Uint8Array> {
  const { data } = attestationShape.safeParse(body)
  if (!data) return { why: 'an answer without a status' }
  const attestation = data.status === 'complete' ? hex.safeParse(data.attestation).data : undefined
  return { value: attestation === undefined ? undefined : bytesOf(attestation), why: data.status }
}

/** Returns a text such as `complete, pending_confirmations (insufficient_fee)`. */
function statesOf(entries: readonly unknown[]): string {
  const states = entries.map((entry) => {
    const { data } = pendingShape.safeParse(entry)
    return data ? `${data.status}${data.delayReason == null ? '' : ` (${data.delayReason})`}` : 'unreadable'
  })
  return [...new Set(states)].slice(0, 5).join(', ') || 'no messages'
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text.slice(2), 'hex')
}
