import type { Config } from '../../config/schema/schema.ts'
import { makeDataFolder, settingsPlaceOf } from '../../config/data-folder.ts'
import { namesOf } from '../../config/chains.ts'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import {
  compareAge,
  fromSettingsCheckpoint,
  type KeptSettings,
  missingRestrictions,
  type SettingsCheckpoint,
} from '../../domain/settings/checkpoint.ts'
import { noSettings, type Settings } from '../../domain/settings/settings.ts'
import type { Logger } from '../../observability/logger.ts'
import { createCheckpointFiles } from '../../intake/streams/checkpoints.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { changeSettings, readSettings, restoreSettings } from '../../temporal/client/settings/settings.ts'
import { isSameSettings, type SettingsWatch } from '../../temporal/client/settings/settings-watch.ts'
import { type Service, within } from '../../runtime/wait.ts'
import { problemOf } from '../../observability/severity.ts'
import { type Role, serves } from './roles.ts'

interface SettingsKeeperOptions {
  readonly config: Config
  readonly client: TemporalClient
  readonly namespace: string
  readonly watch: SettingsWatch
  readonly logger: Logger
  readonly role: Role
}

const name = 'settings'
const againMs = 5_000
const stopMs = 2_000

/**
 * Keeps a checkpoint of the settings, and restores it if Temporal has none. From a checkpoint with a later change or
 * with more changes, the roles `ledger` and `intake` repeat only restrictions: halts, denials, revocations, and rules
 * that deliver no transfers of a token. Throws CHECKPOINT_UNAVAILABLE.
 */
export async function keepSettings(options: SettingsKeeperOptions): Promise<Service> {
  const { config, client, namespace, watch, logger, role } = options
  const merges = serves(role, 'ledger') || serves(role, 'intake')
  const place = settingsPlaceOf(config, serves(role, 'intake') || serves(role, 'api'))
  if (!place) return { stop: async () => {} }
  if (place.kind === 'directory')
    await makeDataFolder(config.dataFolder).catch((error: unknown) => logger.warn('checkpoints cannot be kept', { ...problemOf(error) }))
  const files = createCheckpointFiles(place)
  let kept = await readKept(files, namespace, logger)
  let work: Promise<unknown> = Promise.resolve()
  let stopped = false

  const newest = () => newestOf(watch.current(), kept)

  async function write(settings: Settings): Promise<void> {
    kept = await writeKept(files, settings, options)
  }

  async function follow(settings: Settings): Promise<void> {
    if (stopped || (kept && isSameSettings(kept.settings, settings))) return
    if (settings.version === 0) {
      const lost = newest()
      return void (lost && (await restore(options, lost)))
    }
    const isLater = !kept || compareAge(settings, kept.settings) > 0
    if (kept && merges && !(isLater && settings.version > kept.settings.version)) {
      await merge(options, kept)
      await write(await readSettings(client))
    } else if (isLater) await write(settings)
  }

  function enqueue(settings: Settings): void {
    const next = () =>
      follow(settings).catch((error: unknown) => {
        if (stopped) return
        logger.warn('the settings and their checkpoint cannot be compared now', { ...problemOf(error) })
        setTimeout(() => !stopped && watch.current() === settings && enqueue(settings), againMs).unref()
      })
    work = work.then(next)
  }

  if (kept && watch.current().version === 0) {
    // Without the checkpoint's settings, the process would act as if nothing were halted.
    if ((await restore(options, kept)) || watch.isRead()) watch.learn(kept.settings)
  }
  // After a wipe, this process continues with the known settings until Temporal has them again.
  watch.whileLost((found) => {
    const lost = found.version > 0 ? undefined : newest()
    if (!lost || lost.settings.version === 0) return undefined
    enqueue(found)
    return lost.settings
  })
  const end = watch.subscribe(enqueue)
  return {
    async stop() {
      stopped = true
      end()
      watch.whileLost(undefined)
      await within(stopMs, work, () => undefined)
    },
  }
}

/** Until a checkpoint is written, which may take 10 s, the watch's settings (`current`) are later than `kept`. */
function newestOf(current: Settings, kept: KeptSettings | undefined): KeptSettings | undefined {
  const isLater = current.version > 0 && (!kept || compareAge(current, kept.settings) > 0)
  return isLater ? { settings: current, at: Date.now(), refused: 0 } : kept
}

type Parts = Pick<SettingsKeeperOptions, 'config' | 'client' | 'logger'>

async function restore({ client, logger }: Parts, { settings, at, refused }: KeptSettings): Promise<boolean> {
  if (!(await restoreSettings(client, settings))) return false
  logger.warn('Temporal had no settings: those of the checkpoint are in force again; portage settings shows them', {
    code: 'SETTINGS_RESTORED',
    ...{ version: settings.version, halts: settings.halts.length, denied: settings.denied.length, refused },
    of: new Date(at).toISOString(),
  })
  return true
}

async function merge(parts: Parts, newer: KeptSettings): Promise<void> {
  const { config, client, logger } = parts
  const now = await readSettings(client)
  if (now.version === 0) return void (await restore(parts, newer))
  for (const { by, reason, orders } of missingRestrictions(newer.settings, now, Date.now())) {
    const text = 'an order of the checkpoint is missing from the settings, which are older; repeating the order'
    logger.warn(text, { code: 'SETTINGS_ORDERED_AGAIN', by, reason, orders })
    try {
      await changeSettings(client, { ...namesOf(config), unlistedTokens: true }, { by, reason, orders: [...orders] })
    } catch (error) {
      if (toRelayerError(error).code !== 'INPUT_INVALID') throw error
      logger.error('an order of the checkpoint is refused', { by, ordered: reason, ...problemOf(error) })
    }
  }
}

type Files = ReturnType<typeof createCheckpointFiles>

/** Logs a failed write instead of throwing, so that the returned settings are kept at least in memory. */
async function writeKept(
  files: Files,
  settings: Settings,
  { namespace, logger }: Pick<SettingsKeeperOptions, 'namespace' | 'logger'>,
): Promise<KeptSettings> {
  const at = Date.now()
  try {
    const checkpoint: SettingsCheckpoint = { version: 1, namespace, at, settings: { ...settings, audit: settings.audit.slice(-1) } }
    await files.put(name, `${JSON.stringify(checkpoint)}\n`)
  } catch (error) {
    logger.error('the checkpoint of the settings could not be written', { ...problemOf(error) })
  }
  return { settings, at, refused: 0 }
}

/**
 * Undefined without a usable checkpoint. Throws CHECKPOINT_UNAVAILABLE if the checkpoint cannot be read, because it may
 * contain halts.
 */
async function readKept(files: Files, namespace: string, logger: Logger): Promise<KeptSettings | undefined> {
  try {
    const found = await files.get(name)
    if (found === undefined) return undefined
    const kept = fromSettingsCheckpoint(JSON.parse(found), namespace)
    return kept.settings.version > noSettings.version ? kept : undefined
  } catch (error) {
    if (error instanceof RelayerError && error.code === 'CHECKPOINT_UNAVAILABLE') throw error
    const detail = error instanceof SyntaxError ? 'It is not JSON.' : (error as Error).message
    logger.error('the checkpoint of the settings cannot be used: halts that were in force before a wipe are not known', {
      code: 'SETTINGS_CHECKPOINT_UNUSABLE',
      reason: detail,
    })
    return undefined
  }
}
