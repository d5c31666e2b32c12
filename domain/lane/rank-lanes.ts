import { fnv1a } from '../hash.ts'

/**
 * Rendezvous (highest random weight) hash: the lane for a key is the same in every process, and when a candidate leaves, only its own
 * keys move. Undefined if there are no candidates.
 */
export function rankLanes(key: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined
  let most = -1
  for (const candidate of candidates) {
    const weight = fnv1a(`${candidate}|${key}`)
    if (weight > most || (weight === most && best !== undefined && candidate < best)) {
      most = weight
      best = candidate
    }
  }
  return best
}
