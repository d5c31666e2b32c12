import { isDeepStrictEqual } from 'node:util'
import { noSettings, type Settings } from '../../../domain/settings/settings.ts'
import type { Logger } from '../../../observability/logger.ts'
import type { TemporalClient } from '../connection/client.ts'
import { readSettings } from './settings.ts'
import { problemOf } from '../../../observability/severity.ts'

const everyMs = 2_000
const firstEveryMs = 200
/** Short, because this process itself may start the only worker later. */
const firstTimeoutMs = 1_000
const quietMs = 10_000

/** The settings, read every 2 s. While Temporal does not answer, the last known settings apply. */
export type SettingsWatch = Awaited<ReturnType<typeof watchSettings>>

export const unread: Settings = {
  ...noSettings,
  halts: [{ scope: {}, reason: 'this process has not read the settings yet', by: 'portage', at: 0 }],
}

export function isUnread(settings: Settings): boolean {
  return settings === unread
}

/**
 * Compares the contents, because other orders may get the same version number after Temporal was set back. Ignores the
 * audit, which is all that a restore of the settings loses.
 */
export function isSameSettings(one: Settings, other: Settings): boolean {
  return isDeepStrictEqual({ ...one, audit: [] }, { ...other, audit: [] })
}

type Listener = (settings: Settings) => void

function notify(logger: Logger, listener: Listener, settings: Settings): void {
  try {
    listener(settings)
  } catch (error) {
    logger.error('a change of the settings could not be applied', { ...problemOf(error) })
  }
}

function warnOlder(logger: Logger, { version: had }: Settings, { version }: Settings): void {
  logger.warn('the settings are older than before, or missing: Temporal was wiped or restored', { code: 'SETTINGS_OLDER', had, version })
}

export async function watchSettings({ client, logger }: { client: TemporalClient; logger: Logger }) {
  const startedAt = performance.now()
  let known: Settings | undefined
  let warned = false
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  const listeners = new Set<Listener>()
  let keptFor: ((found: Settings) => Settings | undefined) | undefined
  let isLost = false

  const take = (next: Settings) => {
    if (warned) logger.info('the settings are read again', { version: next.version })
    warned = false
    if (known && isSameSettings(known, next)) return
    if (known && next.version <= known.version) warnOlder(logger, known, next)
    else if (next.version > 0) logger.info('settings', { version: next.version, halts: next.halts.length, denied: next.denied.length })
    known = next
    for (const listener of listeners) notify(logger, listener, next)
  }
  const takeFound = (found: Settings) => {
    const kept = keptFor?.(found)
    if (kept && known && !isLost) warnOlder(logger, known, found)
    isLost = kept !== undefined
    take(kept ?? found)
  }
  const read = async (timeoutMs?: number) => {
    try {
      const next = await readSettings(client, timeoutMs)
      if (!stopped) takeFound(next)
    } catch (error) {
      const isEarly = !known && performance.now() - startedAt < quietMs
      if (!warned && !stopped && !isEarly)
        logger.warn(`the settings cannot be read; ${known ? 'using the last known ones' : 'nothing is signed until they are read'}`, {
          ...(known && { version: known.version }),
          ...problemOf(error),
        })
      warned ||= !isEarly
    }
    if (!stopped) timer = setTimeout(() => void read(), known ? everyMs : firstEveryMs)
  }
  await read(firstTimeoutMs)
  return {
    /** Before the first read, everything counts as halted, so that nothing is signed against an operator's halt. */
    current: (): Settings => known ?? unread,
    isRead: () => known !== undefined,
    /** Adopts the settings of a checkpoint, because there may be no worker that could answer a query. */
    learn: take,
    /** `kept` returns the settings to use instead of the found ones, which listeners then never see, or undefined. */
    whileLost: (kept: typeof keptFor) => void (keptFor = kept),
    /**
     * Calls the listener after each change and, if the settings are known, immediately. Catches the listener's errors.
     */
    subscribe(listener: Listener): () => void {
      listeners.add(listener)
      if (known) notify(logger, listener, known)
      return () => listeners.delete(listener)
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
