import { createHash } from 'node:crypto'
import { type Attempt, type Entry, type LaneState, newLane, type LaneId } from '../../domain/lane/lane.ts'

export const firstKept = 1_000_000
/** Number of transfers in 15 minutes at 20 per second. */
export const quarterHour = 15 * 60 * 20

const hash = (text: string) => createHash('sha256').update(text).digest('hex')
const digits = (text: string, length: number) => Number.parseInt(hash(text).slice(0, length), 16)

/** An entry whose values are as long as real ones. `perBlock` successive entries have the same fees. */
export function keptEntry(index: number, { attempts = 1, perBlock = 20 } = {}): Entry {
  const block = Math.floor(index / perBlock)
  const fee = 30_000_000_000 + digits(`fee ${block}`, 7)
  const attempt = (step: number): Attempt => ({
    kind: 'call',
    gasLimit: String(200_000 + digits(`gas ${index}`, 3)),
    maxFee: String(Math.floor(fee * 1.25 ** step)),
    tip: String(1_500_000_000 + block + step),
  })
  const id = `wormhole-token-bridge:ethereum:${'ab'.repeat(32)}:${269_170 + index}:${hash(`id ${index}`).slice(0, 16)}`
  return {
    nonce: firstKept + index,
    owner: { intentId: `${id}/1`, callHash: `0x${hash(`call ${index}`)}` },
    grantedTo: `deadbeef-${index * 3}`,
    maybeSent: attempts > 1,
    sinceBlock: 0,
    claimedBlock: 0,
    attempts: Array.from({ length: attempts }, (_, step) => attempt(step)),
  }
}

/** A lane with these entries, whose blocks are not final. */
export function laneThatKeeps(lane: LaneId, entries: readonly Entry[]): LaneState {
  const next = firstKept + entries.length
  const seen = { latest: next, finalized: firstKept, height: 250_000_000, hash: `0x${'f'.repeat(64)}`, balance: '9'.repeat(22) }
  return {
    ...newLane({ lane, window: 64, fillAfterBlocks: 20 }),
    ...{ synced: true, next, observed: { ...seen, at: 0, leadAt: 0, finalizedAt: seen.height } },
    entries: Object.fromEntries(entries.map((entry) => [entry.nonce, entry])),
    tombstones: Array.from({ length: 1_024 }, (_, index) => `abcdefghijk-${index}`),
  }
}
