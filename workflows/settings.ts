import { changeSettings } from '../domain/settings-reducer.ts'
import { assertSettingsFit, assertSettingsOrders } from '../domain/settings-request.ts'
import type { Settings } from '../domain/settings.ts'
import { noSettings } from '../domain/settings.ts'
import type { SettingsInput, SettingsRequest } from '../temporal/messages.ts'
import { changeSettingsUpdate, malformedUpdate, runIsFull, settingsQuery } from '../temporal/messages.ts'
import {
  ApplicationFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow'

/** Every answer holds the settings whole, up to some 100 KB: a run stays well below the 4 MB at which the server asks for another. */
const updatesPerRun = 100

/**
 * What operators changed while everything runs: one per namespace, the only writer. A shell: what a change does is decided in
 * domain/settings-reducer.ts, what is refused in domain/settings-request.ts. Its handlers are synchronous and never wait.
 */
export async function settings(input: SettingsInput): Promise<void> {
  let now = input.settings ?? noSettings
  let updates = 0
  let taskOfLastUpdate = -1
  const full = () => updates >= (input.updatesPerRun ?? updatesPerRun) || workflowInfo().continueAsNewSuggested

  const onChange = (request: SettingsRequest): Settings => {
    updates += 1
    taskOfLastUpdate = workflowInfo().historyLength
    now = changeSettings(now, request, Date.now())
    setCurrentDetails(details(now))
    return now
  }
  setHandler(changeSettingsUpdate, onChange, {
    validator: (request) => {
      if (full()) throw ApplicationFailure.retryable('the run is full; the next one takes over in a moment', runIsFull)
      refuseMalformed(now, request)
    },
  })
  setHandler(settingsQuery, () => now)
  setCurrentDetails(details(now))

  await condition(full)
  // A task that answers an update must not close the run: the answer would be lost to its caller.
  do await sleep(1)
  while (taskOfLastUpdate === workflowInfo().historyLength || !allHandlersFinished())
  await continueAsNew<typeof settings>({ ...input, settings: now })
}

function refuseMalformed(now: Settings, request: SettingsRequest): void {
  try {
    assertSettingsOrders(request)
    assertSettingsFit(changeSettings(now, request, 0))
  } catch (error) {
    throw ApplicationFailure.nonRetryable(error instanceof Error ? error.message : String(error), malformedUpdate)
  }
}

function details({ version, halts, denied, fees, nodes, audit }: Settings): string {
  const last = audit.at(-1)
  return [
    `**version ${version}**${halts.length > 0 ? `, ${halts.length} halts` : ''}`,
    ...halts.map((halt) => `halted: ${JSON.stringify(halt.scope)} by ${halt.by}: ${halt.reason}`),
    `${denied.length} denied, ${fees.length} fee rules, ${nodes.length} changed nodes`,
    ...(last ? [`last change: ${last.order.kind} by ${last.by}: ${last.reason}`] : []),
  ].join('\n\n')
}
