import type { StreamRow } from '../data/shapes.ts'
import type { Tone } from './tone.ts'

/** If the head of a stream's source is older than this (ms), the source counts as one without new blocks. */
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
