import { z } from 'zod'
import { RelayerError } from '../domain/errors.ts'
import { parseVaa } from '../domain/vaa.ts'

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

/** The guardian's REST answer; Wormholescan gives the same. Far above any VAA, far below what hurts. */
const answerSchema = z.object({ vaaBytes: z.base64().max(1_000_000) })

/**
 * Fetches a signed VAA: `GET {api}/v1/signed_vaa/{chain}/{emitter}/{sequence}` of one API after the other, until one has it. Only its place is
 * compared; who delivers it checks the signatures.
 * Throws VAA_NOT_FOUND, which says what each API answered.
 */
export async function fetchSignedVaa(
  apis: readonly string[],
  place: MessagePlace,
  { timeoutMs = 5_000 }: FetchOptions = {},
): Promise<Uint8Array> {
  const emitter = place.emitter.toLowerCase()
  const path = `v1/signed_vaa/${place.chain}/${emitter}/${place.sequence}`
  const refusals: string[] = []
  for (const api of apis) {
    try {
      return await fetchFrom(new URL(path, api.endsWith('/') ? api : `${api}/`), { ...place, emitter }, timeoutMs)
    } catch (error) {
      // The origin only: paths and queries of such URLs may hold keys.
      refusals.push(`${new URL(api).origin}: ${reasonOf(error)}`)
    }
  }
  const detail = refusals.join('; ') || 'No guardian API is configured.'
  throw new RelayerError('VAA_NOT_FOUND', { detail, facts: { chain: place.chain, emitter, sequence: place.sequence } })
}

async function fetchFrom(url: URL, place: MessagePlace, timeoutMs: number): Promise<Uint8Array> {
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs), headers: { accept: 'application/json' }, redirect: 'error' })
  if (response.status === 404) throw new Refusal('not found')
  if (!response.ok) throw new Refusal(`HTTP ${response.status}`)
  const answer = answerSchema.safeParse(await response.json())
  if (!answer.success) throw new Refusal('an answer without vaaBytes')
  const bytes = Buffer.from(answer.data.vaaBytes, 'base64')
  const vaa = parseVaa(bytes)
  if (vaa.emitterChain !== place.chain || vaa.emitter !== place.emitter || vaa.sequence !== place.sequence)
    throw new Refusal('another message')
  return bytes
}

/** What an API said, in words that carry nothing of its URL. */
class Refusal extends Error {}

function reasonOf(error: unknown): string {
  if (error instanceof Refusal) return error.message
  if (error instanceof RelayerError) return error.code
  if (error instanceof SyntaxError) return 'an answer that is not JSON'
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time'
  return 'no connection'
}
