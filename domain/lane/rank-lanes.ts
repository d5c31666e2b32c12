/**
 * Rendezvous (highest random weight) hash: the candidate for a key is the same in every process, and when a candidate leaves, only its own
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

/** FNV-1a, 32 bits, with a final mix so that keys that differ in their last characters spread (constants: Fowler/Noll/Vo; murmur3 fmix32). */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
