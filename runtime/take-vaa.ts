import { toRelayerError } from '../domain/catalogue/errors.ts'

export interface MessagePlace {
  /** Wormhole chain id. */
  readonly chain: number
  /** 64 lower-case hex digits. */
  readonly emitter: string
  /** u64, decimal. */
  readonly sequence: string
}

interface NotFound {
  readonly kind: 'absent' | 'unknown'
  readonly againInMs?: number | undefined
  readonly why: string
}

/**
 * Finds the VAA of a message at guardian APIs, beginning at the index `from`. Does not check signatures. Never throws.
 */
export type FindVaa = (
  place: MessagePlace,
  from?: number,
) => Promise<{ readonly kind: 'found'; readonly vaa: Uint8Array; readonly api: number } | NotFound>

/**
 * Gives the copies of the APIs to `take`, one after the other, until it takes one. Throws the first refusal, and at
 * once errors that are not about the copy.
 */
export async function takeVaa<T>(
  findVaa: FindVaa,
  place: MessagePlace,
  take: (vaa: Uint8Array) => Promise<T>,
): Promise<{ readonly kind: 'taken'; readonly value: T } | NotFound> {
  const refusals: unknown[] = []
  for (let from = 0; ;) {
    const found = await findVaa(place, from)
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
