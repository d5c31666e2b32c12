import { randomUUID } from 'node:crypto'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { assertKnownNames, type KnownNames } from '../../../domain/settings/known-names.ts'
import { assertSettings, assertSettingsOrders } from '../../../domain/settings/request.ts'
import { noSettings, type Settings, type SettingsOrder } from '../../../domain/settings/settings.ts'
import { redactText } from '../../../observability/redact.ts'
import { settingsWorkflowId } from '../../contracts/names.ts'
import { changeSettingsUpdate, type SettingsInput, settingsQuery, type SettingsRequest } from '../../contracts/settings.ts'
import { type TemporalClient, within } from '../connection/client.ts'
import { ifGone, rethrowAs } from '../connection/errors.ts'
import { queryOrWake, sendOrder, startUnlessTaken, updateOrStart } from '../calls/workflow-calls.ts'
import { wakeSignal } from '../../contracts/transfer.ts'
import { fromOrTo, running, transfersWith } from '../transfers/transfer-queries.ts'

const queryTimeoutMs = 5_000
const summary = 'changes of operators, on top of the config'
const codes = { unserved: 'SETTINGS_UNREACHABLE' } as const

/**
 * Empty settings if the settings workflow does not exist. Throws SETTINGS_UNREACHABLE, also for a malformed answer, and
 * TEMPORAL_UNAVAILABLE.
 */
export async function readSettings(client: TemporalClient, timeoutMs = queryTimeoutMs): Promise<Settings> {
  const ask = () => queryOrWake(client, settingsWorkflowId, settingsQuery).catch(ifGone(noSettings))
  // A worker of an older version leaves out some lists.
  const found = { ...noSettings, ...(await within(client, timeoutMs, ask).catch(rethrowAs(codes))) }
  try {
    assertSettings(found)
  } catch (cause) {
    throw new RelayerError('SETTINGS_UNREACHABLE', {
      detail: `Its answer is malformed: ${cause instanceof Error ? cause.message : ''}`,
      cause,
    })
  }
  return found
}

/** Starts the workflow with these settings after a wipe of Temporal. Needs no worker. False if settings exist. */
export async function restoreSettings(client: TemporalClient, settings: Settings): Promise<boolean> {
  const start = () =>
    startUnlessTaken(client, 'settings', {
      workflowId: settingsWorkflowId,
      // A terminated run still has its settings, and the next change starts a new run with them.
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      args: [{ settings } satisfies SettingsInput],
      staticSummary: summary,
    })
  return within(client, queryTimeoutMs, start).catch(rethrowAs(codes))
}

/** Applies all orders or none. Safe to repeat. Throws INPUT_INVALID, SETTINGS_UNREACHABLE and TEMPORAL_UNAVAILABLE. */
export async function changeSettings(client: TemporalClient, known: KnownNames, request: SettingsRequest) {
  const before = await readSettings(client)
  try {
    // A refused request must not start a workflow.
    assertSettingsOrders(request)
  } catch (error) {
    throw new RelayerError('INPUT_INVALID', { detail: error instanceof Error ? error.message : String(error) })
  }
  assertKnownNames(request.orders, known, before)
  const orders = { ...request, by: request.by.trim(), reason: redactText(request.reason.trim()) }
  const target = {
    workflowType: 'settings',
    workflowId: settingsWorkflowId,
    begin: (): SettingsInput => (before.version > 0 ? { settings: before } : {}),
    summary,
  }
  const after = await sendOrder(client, () => updateOrStart(client, changeSettingsUpdate, [orders], target), codes)
  if (after.version > before.version) await wakeAfterOrders(client, request.orders)
  return { before, after }
}

/**
 * Wakes the transfers that wait for one of the orders. Otherwise they could notice it half an hour later. Never throws.
 */
async function wakeAfterOrders(client: TemporalClient, orders: readonly SettingsOrder[]): Promise<void> {
  for (const visibilityQuery of new Set(orders.flatMap(waitingTransfersOf))) {
    await client.workflowService
      .startBatchOperation({
        namespace: client.options.namespace,
        jobId: randomUUID(),
        visibilityQuery,
        reason: 'the settings have changed',
        // A batch operation sends the same payloads to all workflows, and a payload is bound to one workflow. This
        // signal has no payload.
        signalOperation: { signal: wakeSignal.name, identity: 'portage' },
      })
      .catch(() => {})
  }
}

function waitingTransfersOf(order: SettingsOrder): string[] {
  const waiting = { TransferState: 'waiting' }
  if (order.kind === 'setFees') {
    const { scope } = order
    if (scope.kind === 'transfer') return [transfersWith(waiting, running, `WorkflowId = '${scope.id.replaceAll(/[^\w:-]/g, '')}'`)]
    return [transfersWith({ ...waiting, TargetChain: scope.kind === 'chain' || scope.kind === 'call' ? scope.chain : undefined }, running)]
  }
  // Transfers whose fee was worth too little wait for a change of the tariff.
  if (order.kind === 'setTariff')
    return order.scope.kind === 'fee' ? [transfersWith({ ...waiting, TargetChain: order.scope.chain }, running)] : []
  if (order.kind !== 'unhalt') return []
  const { bridge, chain, sourceChain, targetChain } = order.scope
  const route = { Bridge: bridge, SourceChain: sourceChain, TargetChain: targetChain }
  return [transfersWith({ ...waiting, ...route }, running, ...fromOrTo(chain))]
}
