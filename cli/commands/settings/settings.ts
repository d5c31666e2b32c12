import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { readSettings } from '../../../temporal/client/settings/settings.ts'
import type { Settings, SettingsOrder, IssuedToken } from '../../../domain/settings/settings.ts'
import type { Call, CommandSpec } from '../../command.ts'
import type { CliContext } from '../../context.ts'
import { invalid, withReason } from '../../arguments/options.ts'
import { withoutAudit } from '../../../operations/orders/settings.ts'
import { giveOrder, type OrderOptions, orderText } from '../../orders.ts'
import { verbatim } from '../../output/output.ts'
import { auditText, settingsText } from '../../output/settings-text.ts'

export const settingsCommand: CommandSpec = {
  description: 'Changes of operators to the running processes: halts, deny-list, fees, nodes. Portage keeps them in Temporal.',
  options: (command) => command.option('--audit', 'the newest 200 changes, with name, time and reason'),
  examples: ['portage settings', 'portage settings --audit --json'],
  commands: {
    export: {
      description: 'Print the settings as orders (JSON) for portage settings import: they must outlive a wiped Temporal.',
      examples: ['portage settings export > settings.json'],
      run: async ({ withTemporal }) => {
        const settings = await withTemporal((client) => readSettings(client))
        const json = { version: settings.version, orders: toOrders(settings) }
        return { json, text: verbatim(JSON.stringify(json, null, 2)) }
      },
    },
    import: {
      ...orderText('settings import'),
      options: (command) => withReason(command).argument('<file>', 'the file; - reads it from stdin'),
      run: async (call: Call<OrderOptions>, file: string) => {
        const given = await readOrders(call.context, file)
        if (given.length === 0) throw invalid('The file holds no orders.')
        // Exported settings may hold revocations of unlisted tokens.
        return giveOrder(call, 'settings import', '', { orders: given }, undefined, { unlistedTokens: true })
      },
    },
  },
  run: async ({ withTemporal, options }: Call<{ audit?: true }>) => {
    const settings = await withTemporal((client) => readSettings(client))
    if (!options.audit) return { json: withoutAudit(settings), text: settingsText(settings) }
    return { json: { version: settings.version, audit: settings.audit.toReversed() }, text: auditText(settings.audit) }
  },
}

function toOrders({ halts, denied, fees, nodes, tokens }: Settings): SettingsOrder[] {
  return [
    ...halts.map(({ scope }): SettingsOrder => ({ kind: 'halt', scope })),
    ...denied.map(({ kind: what, value }): SettingsOrder => ({ kind: 'deny', what, value })),
    ...fees.map((rule): SettingsOrder => ({ kind: 'setFees', ...rule })),
    ...nodes.map((change): SettingsOrder => ({ kind: 'setNode', change })),
    ...tokens.flatMap(tokenOrders),
  ]
}

/** A revoked token stays revoked in a new Temporal. */
function tokenOrders({ revoked, ...token }: IssuedToken): SettingsOrder[] {
  const { name, level, kid, issuedAt, expiresAt, jti } = token
  const isListed = name !== undefined && level !== undefined && kid !== undefined && issuedAt !== undefined && expiresAt !== undefined
  return [
    ...(isListed ? [{ kind: 'addToken' as const, token: { ...token, name, level, kid, issuedAt, expiresAt } }] : []),
    ...(revoked ? [{ kind: 'revokeToken' as const, jti }] : []),
  ]
}

/** Only the list: the ledger checks the orders. Throws INPUT_INVALID. */
async function readOrders({ stdin, cwd }: CliContext, file: string): Promise<SettingsOrder[]> {
  try {
    const json = file === '-' ? await text(stdin) : await readFile(resolve(cwd(), file), 'utf8')
    const { orders: found } = JSON.parse(json) as { orders?: unknown }
    if (Array.isArray(found)) return found as SettingsOrder[]
  } catch (cause) {
    throw invalid('The file cannot be read as JSON.', { file }, cause)
  }
  throw invalid('orders: must be a list', { file })
}
