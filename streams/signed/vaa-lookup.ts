import { z } from 'zod'
import type { MessagePlace } from '../../intake/guardian-api.ts'
import { createVaaHost, type HostAnswer, type VaaHost, type VaaHostOptions } from './vaa-host.ts'

export interface VaaLookupOptions extends Partial<Omit<VaaHostOptions, 'url'>> {
  /** Base URLs of guardian REST APIs, asked first and in order. */
  readonly guardianApis: readonly string[]
  /** Base URLs of Wormholescan's API. */
  readonly wormholescanApis: readonly string[]
}

/** `againInMs`: an API could not be asked, and may be by then. `api`: index of the API that had it, in the order of asking. */
export type Found =
  | { readonly kind: 'found'; readonly vaa: Uint8Array; readonly origin: string; readonly api: number }
  /** No API that could be asked has an accepted copy, or no API is configured. */
  | { readonly kind: 'absent'; readonly againInMs?: number }
  /** No API could be asked. */
  | { readonly kind: 'unknown'; readonly againInMs: number; readonly why: string }

/** Signed VAAs and the Governor's queue, from the APIs of the network. One per process: its limits hold for each server as a whole. */
export type VaaLookup = ReturnType<typeof createVaaLookup>

/** Far above any VAA, far below what hurts. */
const base64 = z.base64().min(1).max(1_000_000)
const guardianShape = z.object({ vaaBytes: base64 }).transform(({ vaaBytes }) => vaaBytes)
const wormholescanShape = z.object({ data: z.object({ vaa: base64 }) }).transform(({ data }) => data.vaa)
const heldShape = z.object({ isEnqueued: z.boolean() })

/** When an API that failed is worth another question, ms. */
const afterFailureMs = 5_000

interface Api {
  readonly host: VaaHost
  readonly prefix: string
  readonly shape: z.ZodType<string>
}

export function createVaaLookup(options: VaaLookupOptions) {
  const { guardianApis, wormholescanApis, timeoutMs = 5_000, parallel = 4, pause = { firstMs: 1_000, mostMs: 60_000 } } = options
  const host = (url: string) => createVaaHost({ url, timeoutMs, parallel, pause })
  const apis: readonly Api[] = [
    ...guardianApis.map((url) => ({ host: host(url), prefix: 'v1/signed_vaa', shape: guardianShape })),
    ...wormholescanApis.map((url) => ({ host: host(url), prefix: 'api/v1/vaas', shape: wormholescanShape })),
  ]
  return {
    /**
     * The first copy that is accepted, of one API after the other. Never throws; the signatures are checked when it is submitted.
     * @param accepts false: another API may have a better one
     * @param from index of the first API that is asked: those before it had no valid copy
     */
    async find(place: MessagePlace, accepts: (vaa: Uint8Array) => boolean, from = 0): Promise<Found> {
      const waits: number[] = []
      const refusals: string[] = []
      for (const [api, { host: server, prefix, shape }] of apis.entries()) {
        if (api < from) continue
        const answer = await server.ask(`${prefix}/${pathOf(place)}`)
        if (answer.kind === 'found') {
          const text = shape.safeParse(answer.body)
          const vaa = text.success ? Buffer.from(text.data, 'base64') : undefined
          if (vaa && accepts(vaa)) return { kind: 'found', vaa, origin: server.origin, api }
          if (!vaa) refusals.push(`${server.origin}: an answer without a VAA`)
        } else if (answer.kind !== 'absent') {
          waits.push(answer.kind === 'resting' ? answer.forMs : afterFailureMs)
          refusals.push(`${server.origin}: ${answer.kind === 'resting' ? 'asked to wait' : answer.why}`)
        }
      }
      const againInMs = waits.length > 0 ? Math.min(...waits) : undefined
      if (againInMs !== undefined && waits.length === apis.length) return { kind: 'unknown', againInMs, why: refusals.join('; ') }
      return { kind: 'absent', ...(againInMs !== undefined && { againInMs }) }
    },
    /** Whether the Governor holds the message back; undefined: no API answered. */
    async held(place: MessagePlace): Promise<boolean | undefined> {
      const answers: (boolean | undefined)[] = []
      for (const { host: server } of apis) {
        // Wormholescan serves this route of the guardians as well.
        const said = isHeld(await server.ask(`v1/governor/is_vaa_enqueued/${pathOf(place)}`))
        // Each guardian has a Governor of its own: one that holds it back is enough of a reason.
        if (said) return true
        answers.push(said)
      }
      return answers.includes(false) ? false : undefined
    },
  }
}

function isHeld(answer: HostAnswer): boolean | undefined {
  if (answer.kind !== 'found') return undefined
  const shape = heldShape.safeParse(answer.body)
  return shape.success ? shape.data.isEnqueued : undefined
}

function pathOf({ chain, emitter, sequence }: MessagePlace): string {
  return `${chain}/${emitter.toLowerCase()}/${sequence}`
}
