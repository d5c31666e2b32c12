import { z } from 'zod'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import { parseVaa } from '../../domain/vaa.ts'
import { createHttpHost, type HttpHostOptions } from './http-host.ts'

export interface MessagePlace {
  readonly chain: number
  /** 64 hex digits without 0x */
  readonly emitter: string
  /** u64, decimal */
  readonly sequence: string
}

export interface VaaLookupOptions extends Partial<Omit<HttpHostOptions, 'url'>> {
  readonly guardianApis: readonly string[]
  readonly wormholescanApis: readonly string[]
}

/** `api`: index of the API that has the VAA. `againInMs`: wait before the next try. */
export type Found =
  | { readonly kind: 'found'; readonly vaa: Uint8Array; readonly origin: string; readonly api: number }
  /** No API is configured, or the APIs that could be asked do not have the VAA or have only a copy that is too long. */
  | { readonly kind: 'absent'; readonly againInMs: number | undefined; readonly why: string }
  | { readonly kind: 'unknown'; readonly againInMs: number; readonly why: string }

/** One per process, because it limits the requests to each server. */
export type VaaLookup = ReturnType<typeof createVaaLookup>

const base64 = z.base64().min(1).max(1_000_000)
const vaaShape = z.union([
  z.object({ vaaBytes: base64 }).transform(({ vaaBytes }) => vaaBytes),
  z.object({ data: z.object({ vaa: base64 }) }).transform(({ data }) => data.vaa),
])
const heldShape = z.object({ isEnqueued: z.boolean() })

export function createVaaLookup({ guardianApis, wormholescanApis, parallel = 4, ...limits }: VaaLookupOptions) {
  const api = (url: string, path: string) => ({ host: createHttpHost({ url, parallel, ...limits }), path })
  const apis = [...guardianApis.map((url) => api(url, 'v1/signed_vaa')), ...wormholescanApis.map((url) => api(url, 'api/v1/vaas'))]
  return {
    /** Asks one API after the other, from index `from` on. Does not check signatures. Never throws. */
    async find(place: MessagePlace, from = 0): Promise<Found> {
      const waits: number[] = []
      const refusals: string[] = []
      for (const [index, { host, path }] of apis.entries()) {
        if (index < from) continue
        const answer = await host.ask(`${path}/${pathOf(place)}`)
        const found = answer.kind === 'found' ? readVaa(answer.body, place) : answer.kind === 'absent' ? 'not found' : answer.why
        if (typeof found !== 'string') return { kind: 'found', vaa: found, origin: host.origin, api: index }
        if (answer.kind === 'failed' && !answer.isOfQuestion) waits.push(answer.againInMs)
        // Paths and queries of URLs may contain keys.
        refusals.push(`${host.origin}: ${found}`)
      }
      const why = refusals.join('; ')
      const againInMs = waits.length > 0 ? Math.min(...waits) : undefined
      if (againInMs !== undefined && waits.length === apis.length) return { kind: 'unknown', againInMs, why }
      return { kind: 'absent', againInMs, why }
    },
    /** Whether a guardian's Governor holds the message back. Undefined if no API answered. */
    async held(place: MessagePlace): Promise<boolean | undefined> {
      let isHeld: boolean | undefined
      for (const { host } of apis) {
        const answer = await host.ask(`v1/governor/is_vaa_enqueued/${pathOf(place)}`)
        if (answer.kind === 'found') isHeld = heldShape.safeParse(answer.body).data?.isEnqueued ?? isHeld
        // Each guardian has its own Governor, and one that holds the message back is enough.
        if (isHeld) return true
      }
      return isHeld
    },
  }
}

/**
 * Gives the copies of the APIs to `take`, one after the other, until it takes one. If it refuses all of them, throws
 * the first refusal. Throws errors that are not about the copy immediately.
 */
async function takeVaa<T>(
  { find }: Pick<VaaLookup, 'find'>,
  place: MessagePlace,
  take: (vaa: Uint8Array) => Promise<T>,
): Promise<{ readonly kind: 'taken'; readonly value: T } | Exclude<Found, { kind: 'found' }>> {
  const refusals: unknown[] = []
  for (let from = 0; ;) {
    const found = await find(place, from)
    if (found.kind !== 'found') {
      if (refusals.length > 0) throw refusals[0]
      return found
    }
    try {
      return { kind: 'taken', value: await take(found.vaa) }
    } catch (error) {
      const { retriable, code } = toRelayerError(error)
      // An API may name a guardian set that does not exist yet.
      if (retriable && code !== 'GUARDIAN_SET_UNKNOWN') throw error
      refusals.push(error)
      from = found.api + 1
    }
  }
}

/** Returns the `FindVaa` of bridges (bridges/kit/find-vaa.ts). */
export function createFindVaa(lookup: Pick<VaaLookup, 'find'>) {
  return async (place: MessagePlace, verify: (vaa: Uint8Array) => Promise<void>) => {
    const found = await takeVaa(lookup, place, async (vaa) => verify(vaa).then(() => vaa))
    return found.kind === 'taken' ? ({ kind: 'found', vaa: found.value } as const) : found
  }
}

/**
 * Fetches a VAA and resolves to the answer of `take`. If `take` refuses a copy, it gets the copy of the next API. If
 * `take` refuses every copy, throws the first refusal. If no API has a copy, throws VAA_NOT_FOUND with each API's
 * answer. Throws other errors of `take` immediately.
 */
export async function fetchSignedVaa<T>(
  lookup: Pick<VaaLookup, 'find'>,
  place: MessagePlace,
  take: (vaa: Uint8Array) => Promise<T>,
): Promise<T> {
  const found = await takeVaa(lookup, place, take)
  if (found.kind === 'taken') return found.value
  throw new RelayerError('VAA_NOT_FOUND', { detail: found.why || 'No guardian API is configured.', facts: { ...place } })
}

function readVaa(body: unknown, place: MessagePlace): Uint8Array | string {
  const { data } = vaaShape.safeParse(body)
  if (data === undefined) return 'an answer without vaaBytes or data.vaa'
  const bytes = Buffer.from(data, 'base64')
  try {
    const { emitterChain, emitter, sequence } = parseVaa(bytes)
    return pathOf({ chain: emitterChain, emitter, sequence }) === pathOf(place) ? bytes : 'another message'
  } catch (error) {
    return error instanceof RelayerError ? error.code : 'an answer that cannot be read'
  }
}

function pathOf({ chain, emitter, sequence }: MessagePlace): string {
  return `${chain}/${emitter.toLowerCase()}/${sequence}`
}
