import { fnv1a } from '../hash.ts'

/** Rendezvous hash: the lane for a key is the same in every process, and when a candidate leaves, only its own keys move. Undefined: no candidates. */
export function rankLanes(key: string, candidates: readonly string[]): string | undefined {
  const weighed = candidates.map((candidate) => ({ candidate, weight: fnv1a(`${candidate}|${key}`) }))
  return weighed.sort((a, b) => b.weight - a.weight || (a.candidate < b.candidate ? -1 : 1))[0]?.candidate
}
