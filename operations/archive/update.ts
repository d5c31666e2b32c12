import { setTimeout as delay } from 'node:timers/promises'
import { backoffMs } from '../../domain/backoff.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { ArchiveStore } from './store.ts'

/** With the waits between them some ten seconds: each time somebody else was faster. */
const tries = 12
const [firstWaitMs, longestWaitMs] = [20, 2_000] as const

/**
 * Changes a text, of which another process may do the same at the same time: then it reads again and changes what that one has written. Throws
 * ARCHIVE_UNAVAILABLE, and what `change` throws.
 * @param change called for each try with what is there; undefined: nothing is to be written
 */
export async function updateText(
  store: ArchiveStore,
  name: string,
  change: (text: string | undefined) => string | undefined,
): Promise<void> {
  let sent: string | undefined
  for (let count = 0; count < tries; count++) {
    const was = await store.get(name)
    // Written by the last try, whose answer was lost.
    if (was !== undefined && was.text === sent) return
    sent = change(was?.text)
    if (sent === undefined || (await store.put(name, sent, was))) return
    // Not all at the same time again.
    await delay(backoffMs(count, firstWaitMs, longestWaitMs) * (0.5 + Math.random()))
  }
  throw new RelayerError('ARCHIVE_UNAVAILABLE', { detail: 'others write it all the time, or one left its lock behind', facts: { name } })
}

export function linesOf(text: string | undefined): string[] {
  return text?.split('\n').filter(Boolean) ?? []
}
