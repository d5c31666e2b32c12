import { RelayerError } from '../../domain/errors.ts'
import { assertKnownNames, type KnownNames } from '../../domain/settings/known-names.ts'
import { assertSettingsOrders } from '../../domain/settings/request.ts'
import { noSettings, type Settings } from '../../domain/settings/settings.ts'
import { redactText } from '../../observability/redact.ts'
import { settingsWorkflowId } from '../contracts/names.ts'
import { changeSettingsUpdate, type SettingsInput, settingsQuery, type SettingsRequest } from '../contracts/settings.ts'
import { type TemporalClient, within } from './client.ts'
import { ifGone, isQueryUnknown, rethrowAs } from './errors.ts'
import { sendOrder, updateOrStart } from './update-or-start.ts'
import { wakeAfterOrders } from './wake-after-orders.ts'

const queryTimeoutMs = 5_000
const codes = { unserved: 'SETTINGS_UNREACHABLE' } as const
/** A signal without a handler. */
const wakeSignal = 'wake'

/** The settings as they are now; without the workflow, none. Throws SETTINGS_UNREACHABLE (no worker answers), TEMPORAL_UNAVAILABLE. */
export async function readSettings(client: TemporalClient, timeoutMs = queryTimeoutMs): Promise<Settings> {
  const handle = client.workflow.getHandle(settingsWorkflowId)
  return within(client, timeoutMs, () => handle.query(settingsQuery).catch(ifGone(noSettings))).catch(rethrowAs(codes))
}

/**
 * Sends the settings a signal without a handler if a worker cannot replay them. Queries leave nothing in a history: without the signal no workflow task
 * would fail, and recovery would see nothing. Throws what the Temporal client throws.
 */
export async function wakeUnansweredSettings(client: TemporalClient): Promise<void> {
  const handle = client.workflow.getHandle(settingsWorkflowId)
  try {
    await handle.query(settingsQuery)
  } catch (error) {
    // Every build has this query: a worker that does not know it could not replay the workflow.
    if (isQueryUnknown(error)) await handle.signal(wakeSignal)
  }
}

/** The settings before and after a request. */
export interface ChangedSettings {
  readonly before: Settings
  readonly after: Settings
}

/**
 * Applies all orders of a request, or none, and wakes the transfers that they may let go on. Starts the workflow if it is not there. Safe to repeat.
 * Throws INPUT_INVALID with the path of the field, SETTINGS_UNREACHABLE, TEMPORAL_UNAVAILABLE.
 */
export async function changeSettings(client: TemporalClient, known: KnownNames, request: SettingsRequest): Promise<ChangedSettings> {
  // A terminated run still answers queries: the next run begins with what it knew, so that its halts stay.
  const before = await readSettings(client)
  assertWellFormed(request)
  assertKnownNames(request.orders, known, before)
  const orders = { ...request, by: request.by.trim(), reason: redactText(request.reason.trim()) }
  const target = {
    workflowType: 'settings',
    workflowId: settingsWorkflowId,
    begin: (): SettingsInput => (before.version > 0 ? { settings: before } : {}),
    summary: 'what operators changed while everything runs',
  }
  const after = await sendOrder(client, () => updateOrStart(client, changeSettingsUpdate, [orders], target), codes)
  if (after.version > before.version) await wakeAfterOrders(client, request.orders)
  return { before, after }
}

/** The workflow refuses the same requests; refused here, they do not start it. */
function assertWellFormed(request: SettingsRequest): void {
  try {
    assertSettingsOrders(request)
  } catch (error) {
    throw new RelayerError('INPUT_INVALID', { detail: error instanceof Error ? error.message : String(error) })
  }
}
