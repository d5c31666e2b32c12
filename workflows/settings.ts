import { assertSettingsFit, assertSettingsOrders } from '../domain/settings/request.ts'
import { applySettingsOrders, noSettings, type Settings, type SettingsOrders } from '../domain/settings/settings.ts'
import { code as asCode, foreign, paragraphs } from '../domain/text/web-ui-text.ts'
import { changeSettingsUpdate, type SettingsInput, settingsQuery } from '../temporal/contracts/settings.ts'
import { entityWorkflow } from './entity-workflow.ts'
import { continueAsNew, setCurrentDetails, setHandler } from '@temporalio/workflow'

/** Maximum updates per run, lower than in other workflows, because an answer may be 100 KB long. */
const updatesPerRun = 100

/** The only writer of a namespace's settings. domain/settings has the rules. */
export async function settings(input: SettingsInput): Promise<void> {
  // The settings of an older version lack some lists.
  let now: Settings = { ...noSettings, ...input.settings }
  const apply = (request: SettingsOrders): Settings => {
    now = applySettingsOrders(now, request, Date.now())
    setCurrentDetails(details(now))
    return now
  }
  const refuse = (request: SettingsOrders) => {
    assertSettingsOrders(request)
    assertSettingsFit(applySettingsOrders(now, request, Date.now()))
  }
  setHandler(settingsQuery, () => now)
  setCurrentDetails(details(now))

  await entityWorkflow(changeSettingsUpdate, { updatesPerRun: input.updatesPerRun ?? updatesPerRun, apply, refuse })
  await continueAsNew<typeof settings>({ ...input, settings: now })
}

function details({ version, halts, denied, fees, nodes, tariff, audit }: Settings): string {
  const last = audit.at(-1)
  const haltLine = ({ scope, by, reason }: Settings['halts'][number]) =>
    `- ${foreign(JSON.stringify(scope))} by ${foreign(by)}: ${foreign(reason)}`
  return paragraphs(
    `**version ${version}**`,
    halts.length > 0 &&
      `**${halts.length} halted** (to end one: ${asCode('portage unhalt')}, with the same scope):\n\n${halts.map(haltLine).join('\n')}`,
    last && `last change: ${last.order.kind} by ${foreign(last.by)}: ${foreign(last.reason)}`,
    `${denied.length} denied, ${fees.length} fee rules, ${tariff.length} tariff rules, ${nodes.length} changed nodes; all of it: ${asCode('portage settings')}`,
  )
}
