import type { Entry, LaneState, Page } from '../lane.ts'
import type { LaneRequest } from '../messages.ts'
import { reusable } from '../entries.ts'
import { mayOwn, packEntries, unpackEntries } from './pack.ts'

/** `page`: entries per page. `loose`: mined entries that stay unpacked. */
export interface PageSizes {
  readonly page: number
  readonly loose: number
}

const sizes: PageSizes = { page: 250, loose: 250 }
const readable = 128
/**
 * Number of nonces above the account's nonce whose pages are unpacked. Limited, because a rollback sends a signal per
 * unpacked nonce, and Temporal's `limit.numPendingSignals.error` is 2,000.
 */
const openAhead = 1_000

export function paged(state: LaneState, { page, loose }: PageSizes = sizes): LaneState {
  const latest = state.observed?.latest ?? 0
  const settled = Object.values(state.entries).filter((entry) => entry.nonce < latest && !reusable(entry))
  const full = Math.floor((settled.length - loose) / page)
  if (full < 1) return state
  return withPages(state, settled.slice(0, full * page), page, latest)
}

export function carried(state: LaneState, above = readable): LaneState {
  const loose = Object.values(state.entries)
  if (loose.length <= above) return state
  const latest = state.observed?.latest ?? 0
  const packable = loose.filter((entry) => !reusable(entry))
  const mined = packable.filter(({ nonce }) => nonce < latest)
  const rest = packable.slice(mined.length)
  return withPages(withPages(state, mined, sizes.page, latest), rest, sizes.page, latest)
}

function withPages(state: LaneState, packed: readonly Entry[], page: number, latest: number): LaneState {
  if (packed.length === 0) return state
  const entries = { ...state.entries }
  for (const { nonce } of packed) delete entries[nonce]
  const pages = runsOf(packed, page).map((run) => pageOf(run, latest))
  return { ...state, entries, pages: [...(state.pages ?? []), ...pages].sort((a, b) => a.from - b.from) }
}

function runsOf(entries: readonly Entry[], most: number): Entry[][] {
  const runs: Entry[][] = []
  for (const entry of entries) {
    const last = runs.at(-1)
    if (last && last.length < most && last.at(-1)?.nonce === entry.nonce - 1) last.push(entry)
    else runs.push([entry])
  }
  return runs
}

function pageOf(entries: readonly Entry[], latest: number): Page {
  const packed = packEntries(entries)
  const bytes = packed.text.length + packed.words.reduce((sum, word) => sum + JSON.stringify(word).length + 1, 0)
  const [first, last] = [entries[0]?.nonce ?? 0, entries.at(-1)?.nonce ?? 0]
  return { from: first, to: last + 1, inBlock: last < latest, bytes, ...packed }
}

export function unpaged(state: LaneState): LaneState {
  return opened(state, () => true)
}

export function openUnmined(state: LaneState): LaneState {
  const latest = state.observed?.latest
  return latest === undefined || !state.pages ? state : opened(state, (page) => reaches(page, latest))
}

export function openFallen(state: LaneState, latest: number): { state: LaneState; fell: readonly [from: number, below: number] } {
  const fallen = (state.pages ?? []).filter((page) => page.inBlock && reaches(page, latest))
  const open = opened(state, (page) => reaches(page, latest))
  if (fallen.length === 0) return { state: open, fell: [0, 0] }
  return { state: open, fell: [Math.min(...fallen.map(({ from }) => from)), Math.max(...fallen.map(({ to }) => to))] }
}

const reaches = ({ from, to }: Page, latest: number) => to > latest && from < latest + openAhead

export function openFor(state: LaneState, request: LaneRequest): LaneState {
  if (!state.pages) return state
  const nonce = 'nonce' in request ? request.nonce : undefined
  if (nonce !== undefined) return opened(state, ({ from, to }) => nonce >= from && nonce < to)
  const intentId = 'intentId' in request ? request.intentId : request.kind === 'grant' ? request.owner.intentId : undefined
  return intentId === undefined ? state : openIntent(state, intentId)
}

function openIntent(state: LaneState, intentId: string): LaneState {
  const found = state.pages?.find((page) => mayOwn(page, intentId) && entriesOf(page).some(({ owner }) => owner?.intentId === intentId))
  return found ? opened(state, (page) => page === found) : state
}

export function withoutFinal(state: LaneState, finalized: number): LaneState {
  if (!state.pages || state.pages.every(({ from }) => from >= finalized)) return state
  const pages = state.pages.filter(({ to }) => to > finalized).map((page) => ({ ...page, from: Math.max(page.from, finalized) }))
  return withPagesOnly(state, pages)
}

function opened(state: LaneState, isWanted: (page: Page) => boolean): LaneState {
  const wanted = state.pages?.filter(isWanted) ?? []
  if (wanted.length === 0) return state
  const entries = { ...state.entries }
  for (const entry of wanted.flatMap(entriesOf)) entries[entry.nonce] ??= entry
  return withPagesOnly({ ...state, entries }, state.pages?.filter((page) => !wanted.includes(page)) ?? [])
}

function entriesOf(page: Page): Entry[] {
  return unpackEntries(page).filter(({ nonce }) => nonce >= page.from)
}

function withPagesOnly({ pages: _, ...state }: LaneState, pages: readonly Page[]): LaneState {
  return pages.length > 0 ? { ...state, pages } : state
}
