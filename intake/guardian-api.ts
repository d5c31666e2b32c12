import { z } from 'zod'
import { RelayerError } from '../domain/errors.ts'
import { parseVaa } from '../domain/vaa.ts'
import { httpJson } from './http.ts'

/** Which message, as the source chain numbers it. */
export interface MessagePlace {
  /** Wormhole chain id of the source. */
  readonly chain: number
  /** 64 hex digits without 0x. */
  readonly emitter: string
  /** u64, decimal. */
  readonly sequence: string
}

export interface FetchOptions {
  /** Longest wait for one API, ms. Default 5 s. */
  readonly timeoutMs?: number
}

/** Most bytes of an answer: far more than any VAA with its description. */
export const mostAnswerBytes = 2_000_000

/** The guardian's REST answer; Wormholescan gives the same. */
const answerSchema = z.object({ vaaBytes: z.base64().max(1_000_000) })

/**
 * Fetches a signed VAA: `GET {api}/v1/signed_vaa/{chain}/{emitter}/{sequence}` of one API after the other, until one has it. Only its place is
 * compared; the signatures are checked when it is submitted.
 * Throws VAA_NOT_FOUND, which names the answer of each API.
 */
export async function fetchSignedVaa(
  apis: readonly string[],
  place: MessagePlace,
  { timeoutMs = 5_000 }: FetchOptions = {},
): Promise<Uint8Array> {
  const facts = { ...place, emitter: place.emitter.toLowerCase() }
  const path = `v1/signed_vaa/${facts.chain}/${facts.emitter}/${facts.sequence}`
  const refusals: string[] = []
  for (const api of apis) {
    const answer = await httpJson(new URL(path, api.endsWith('/') ? api : `${api}/`), { timeoutMs, mostBytes: mostAnswerBytes })
    const found = answer.kind === 'found' ? readVaa(answer.body, facts) : answer.kind === 'absent' ? 'not found' : answer.why
    if (typeof found !== 'string') return found
    // The origin only: paths and queries of such URLs may hold keys.
    refusals.push(`${new URL(api).origin}: ${found}`)
  }
  throw new RelayerError('VAA_NOT_FOUND', { detail: refusals.join('; ') || 'No guardian API is configured.', facts })
}

/** The bytes, or why they are not those of this message. */
function readVaa(body: unknown, place: MessagePlace): Uint8Array | string {
  const answer = answerSchema.safeParse(body)
  if (!answer.success) return 'an answer without vaaBytes'
  const bytes = Buffer.from(answer.data.vaaBytes, 'base64')
  try {
    const { emitterChain, emitter, sequence } = parseVaa(bytes)
    const isSame = emitterChain === place.chain && emitter === place.emitter && sequence === place.sequence
    return isSame ? bytes : 'another message'
  } catch (error) {
    return error instanceof RelayerError ? error.code : 'an answer that cannot be read'
  }
}
