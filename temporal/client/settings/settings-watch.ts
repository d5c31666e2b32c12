import { noSettings, type Settings } from '../../../domain/settings/settings.ts'
import type { Logger } from '../../../observability/logger.ts'
import type { TemporalClient } from '../connection/client.ts'
import { readSettings } from './settings.ts'
import { problemOf } from '../../../observability/severity.ts'

/** Between two reads of the settings, ms: each is one query of a few kilobytes. */
const everyMs = 2_000
/** The same before they were read for the first time, ms. */
const firstEveryMs = 200
/**
 * Longest wait of the first read, ms: no worker may serve the workflow yet, and this process may be the one that will.
 */
const firstTimeoutMs = 1_000
/** A failure to read them is not logged before this time, ms: it ends by itself with the worker of that workflow. */
const quietMs = 10_000

/**
 * The settings as a process knows them: about two seconds old at most while Temporal answers, the last known ones while
 * it does not.
 */
export type SettingsWatch = Awaited<ReturnType<typeof watchSettings>>

const unread: Settings = {
  ...noSettings,
  halts: [{ scope: {}, reason: 'this process has not read the settings yet', by: 'portage', at: 0 }],
}

/** Whether these are the settings of a process that has not read any yet. */
export function isUnread(settings: Settings): boolean {
  return settings === unread
}

/** Reads the settings once, and then repeatedly until it is stopped. Never throws. */
export async function watchSettings({ client, logger }: { client: TemporalClient; logger: Logger }) {
  const startedAt = Date.now()
  let known: Settings | undefined
  let warned = false
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  const listeners = new Set<(settings: Settings) => void>()

  const notify = (listener: (settings: Settings) => void, settings: Settings) => {
    try {
      listener(settings)
    } catch (error) {
      logger.error('a change of the settings could not be applied', { ...problemOf(error) })
    }
  }
  const take = (next: Settings) => {
    if (warned) logger.info('the settings are read again', { version: next.version })
    warned = false
    if (known && next.version === known.version) return
    if (known && next.version < known.version)
      logger.warn('the settings are older than before, or gone: Temporal was wiped or restored', {
        code: 'SETTINGS_OLDER',
        had: known.version,
        version: next.version,
      })
    else if (next.version > 0) logger.info('settings', { version: next.version, halts: next.halts.length, denied: next.denied.length })
    known = next
    for (const listener of listeners) notify(listener, next)
  }
  const read = async (timeoutMs?: number) => {
    try {
      const next = await readSettings(client, timeoutMs)
      if (!stopped) take(next)
    } catch (error) {
      const isEarly = !known && Date.now() - startedAt < quietMs
      if (!warned && !stopped && !isEarly)
        logger.warn(`the settings cannot be read; ${known ? 'going on with what is known' : 'nothing is signed before they are'}`, {
          ...(known && { version: known.version }),
          ...problemOf(error),
        })
      warned ||= !isEarly
    }
    if (!stopped) timer = setTimeout(() => void read(), known ? everyMs : firstEveryMs)
  }
  await read(firstTimeoutMs)
  return {
    /** Until they were read, everything is halted, so that nothing is signed that an operator may have halted. */
    current: (): Settings => known ?? unread,
    /** False: nothing was read yet, and everything counts as halted. */
    isRead: () => known !== undefined,
    /**
     * Takes settings that were handed to Temporal just now, and that no worker may serve yet: they are in force in this
     * process at once.
     */
    learn: (settings: Settings) => take(settings),
    /**
     * Calls the listener after every change, and at once if they were read already. An error of a listener does not
     * stop the others.
     */
    subscribe(listener: (settings: Settings) => void): () => void {
      listeners.add(listener)
      if (known) notify(listener, known)
      return () => listeners.delete(listener)
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
