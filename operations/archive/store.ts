import { z } from 'zod'
import { backoffMs } from '../../domain/backoff.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { pause } from '../../runtime/wait.ts'

export interface S3Place {
  readonly kind: 's3'
  readonly bucket: string
  readonly region: string
  /** URL of an S3 service other than AWS. The path of a text then begins with the bucket. */
  readonly endpoint?: string | undefined
  /** Prefix of all names: empty, or with a slash at the end. */
  readonly prefix: string
}

export type ArchivePlace = { readonly kind: 'directory'; readonly path: string } | S3Place

export interface StoredText {
  readonly text: string
  readonly version: string
}

export interface ArchiveStore {
  /** Throws ARCHIVE_UNAVAILABLE. */
  get(name: string): Promise<StoredText | undefined>
  /** False if the stored text is not `was` (from `get`). Throws ARCHIVE_UNAVAILABLE. */
  put(name: string, text: string, was: StoredText | undefined): Promise<boolean>
}

const tries = 12
const [firstPauseMs, longestPauseMs] = [20, 2_000] as const

/** Calls `change` again if another process wrote in between. Throws ARCHIVE_UNAVAILABLE and the errors of `change`. */
export async function updateText(
  store: ArchiveStore,
  name: string,
  change: (text: string | undefined) => string | undefined,
): Promise<void> {
  let sent: string | undefined
  for (let count = 0; count < tries; count++) {
    const was = await store.get(name)
    // The previous try wrote the text, but its answer was lost.
    if (was !== undefined && was.text === sent) return
    sent = change(was?.text)
    if (sent === undefined || (await store.put(name, sent, was))) return
    await pause(backoffMs(count, firstPauseMs, longestPauseMs) * (0.5 + Math.random()))
  }
  throw new RelayerError('ARCHIVE_UNAVAILABLE', { detail: 'other processes keep writing it, or one left its lock behind', facts: { name } })
}

export function linesOf(text: string | undefined): string[] {
  return text?.split('\n').filter(Boolean) ?? []
}

export function parsedLine<Line>(line: string, name: string, schema: z.ZodType<Line>): Line {
  try {
    return schema.parse(JSON.parse(line))
  } catch (cause) {
    throw new RelayerError('ARCHIVE_INVALID', { facts: { name }, cause })
  }
}

/** Maximum difference between the clocks of machines that write the same archive, ms. Passes overlap by an hour. */
const skewMs = 3_600_000

const progressSchema = z.looseObject({ through: z.iso.datetime() })

/**
 * Recorded progress, ms since the epoch. Undefined if there is none, or if it is in the future: a pass whose clock was
 * ahead has left out the runs since. Throws ARCHIVE_UNAVAILABLE and ARCHIVE_INVALID.
 */
export async function readThrough(store: ArchiveStore, name: string): Promise<number | undefined> {
  return throughIn((await store.get(name))?.text, name)
}

/** Records the progress, unless a later progress that is not in the future is recorded. Throws ARCHIVE_*. */
export function writeThrough(store: ArchiveStore, name: string, through: number): Promise<void> {
  return updateText(store, name, (text) =>
    (throughIn(text, name) ?? 0) < through ? `${JSON.stringify({ through: new Date(through).toISOString() })}\n` : undefined,
  )
}

function throughIn(text: string | undefined, name: string): number | undefined {
  const through = text === undefined ? undefined : Date.parse(parsedLine(text, name, progressSchema).through)
  return through !== undefined && through > Date.now() + skewMs ? undefined : through
}
