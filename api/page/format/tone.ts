import type { StreamRow } from '../data/shapes.ts'

/** A mark and a word also show each tone, because some readers cannot distinguish the colours. */
export type Tone = 'good' | 'busy' | 'wait' | 'bad' | 'off'

const tones: readonly { readonly tone: Tone; readonly states: readonly string[] }[] = [
  { tone: 'good', states: ['delivered', 'mined', 'active', 'up'] },
  { tone: 'busy', states: ['admitting', 'broadcasting', 'recorded', 'signed', 'pending', 'included', 'syncing', 'unknown'] },
  { tone: 'wait', states: ['waiting', 'reorged', 'paused', 'draining', 'probing'] },
  { tone: 'bad', states: ['parked', 'reverted', 'undone', 'terminated', 'failed'] },
  { tone: 'bad', states: ['forbidden', 'broke', 'chain replaced', 'unserved', 'chain away', 'no answer', 'failing', 'wrong-network'] },
]

export function toneOf(state: string): Tone {
  return tones.find(({ states }) => states.includes(state))?.tone ?? 'off'
}

/** If the head of a stream's source is older than this (ms), the stream's state is `no new block`. */
const oldHeadMs = 60_000

/** @param now ms since the epoch, of the server's clock */
export function streamStateOf(
  { paused, alarms = [], full, backfill, lag = 0, headAt, silentSince }: StreamRow,
  now: number,
): { readonly state: string; readonly tone: Tone; readonly isOld: boolean } {
  const left = backfill?.left ?? 0
  const isOld = headAt !== undefined && now - Date.parse(headAt) > oldHeadMs
  const held = silentSince !== undefined ? 'silent' : paused ? 'paused' : full ? 'full' : isOld ? 'no new block' : undefined
  const tone = alarms.length > 0 || silentSince !== undefined ? 'bad' : held ? 'wait' : left > 0 || lag > 50 ? 'busy' : 'good'
  return { state: held ?? (left > 0 ? 'reading back' : 'following'), tone, isOld }
}
