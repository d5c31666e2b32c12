import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Command } from 'commander'
import { readSettings } from '../../api/settings.ts'
import { RelayerError } from '../../domain/errors.ts'
import type { FeePolicy } from '../../domain/fees/policy.ts'
import type { Settings, SettingsChange, SettingsOrder } from '../../domain/settings/settings.ts'
import type { Cli, CliContext } from '../context.ts'
import { exitCodes, readConfig } from '../context.ts'
import { feeScopeText, limitText } from '../fee-scope.ts'
import { print, table } from '../output.ts'
import { order, scopeText, withAuthor, withoutAudit } from '../settings.ts'
import { withClient } from '../temporal.ts'

/** `portage settings [export|import]` */
export function settingsCommand(cli: Cli): Command {
  const { context, action } = cli
  return new Command('settings')
    .description('What operators changed while everything runs: halts, deny-list, fees, nodes. Portage keeps them in Temporal.')
    .option('--audit', 'who changed what, when and why; the newest 200 changes')
    .addHelpText('after', '\nExamples:\n  portage settings\n  portage settings --audit --json')
    .action(
      action(async (globals, { audit }: { audit?: true }) => {
        const settings = await withClient(await readConfig(context, globals), (client) => readSettings(client))
        if (audit) print(context, globals, { version: settings.version, audit: settings.audit.toReversed() }, auditText(settings.audit))
        else print(context, globals, withoutAudit(settings), settingsText(settings))
        return exitCodes.ok
      }),
    )
    .addCommand(exportCommand(cli))
    .addCommand(importCommand(cli))
}

function exportCommand({ context, action }: Cli): Command {
  return new Command('export')
    .description('Print the settings as orders (JSON) that portage settings import takes: what must outlive a wiped Temporal.')
    .addHelpText('after', '\nExample:\n  portage settings export > settings.json')
    .action(
      action(async (globals) => {
        const settings = await withClient(await readConfig(context, globals), (client) => readSettings(client))
        const value = { version: settings.version, orders: toOrders(settings) }
        print(context, globals, value, JSON.stringify(value, null, 2))
        return exitCodes.ok
      }),
    )
}

function importCommand(cli: Cli): Command {
  return withAuthor(new Command('import'))
    .description('Obey the orders of a file that portage settings export wrote. What is set already stays; nothing else is taken away.')
    .argument('<file>', 'the file; - reads it from stdin')
    .addHelpText('after', '\nExample:\n  portage settings import settings.json --reason "Temporal was set up anew"')
    .action(
      cli.action(async (globals, file: string, options: { reason: string; by?: string }) => {
        const orders = await readOrders(cli.context, file)
        if (orders.length === 0) throw new RelayerError('INPUT_INVALID', { detail: 'The file holds no orders.' })
        return order(cli, globals, options, orders, { done: `${orders.length} orders`, same: 'everything in the file is set already' })
      }),
    )
}

/** The rows as the orders that set them. */
function toOrders({ halts, denied, fees, nodes }: Settings): SettingsOrder[] {
  return [
    ...halts.map(({ scope }): SettingsOrder => ({ kind: 'halt', scope })),
    ...denied.map(({ kind: what, value }): SettingsOrder => ({ kind: 'deny', what, value })),
    ...fees.map((rule): SettingsOrder => ({ kind: 'setFees', ...rule })),
    ...nodes.map((change): SettingsOrder => ({ kind: 'setNode', change })),
  ]
}

/** What is in the orders is checked where every change is checked. Throws INPUT_INVALID. */
async function readOrders({ stdin, cwd }: CliContext, file: string): Promise<SettingsOrder[]> {
  try {
    const text = file === '-' ? await readAll(stdin) : await readFile(resolve(cwd(), file), 'utf8')
    const { orders } = JSON.parse(text) as { orders?: unknown }
    if (Array.isArray(orders)) return orders as SettingsOrder[]
  } catch (cause) {
    throw new RelayerError('INPUT_INVALID', { detail: 'The file cannot be read as JSON.', facts: { file }, cause })
  }
  throw new RelayerError('INPUT_INVALID', { detail: 'orders: must be a list', facts: { file } })
}

async function readAll(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}

const since = (at: number) => new Date(at).toISOString()

function settingsText({ version, halts, denied, fees, nodes }: Settings): string {
  const parts = [
    halts.length > 0 &&
      table(
        ['halted', 'by', 'since', 'reason'],
        halts.map(({ scope, by, at, reason }) => [scopeText(scope), by, since(at), reason]),
      ),
    denied.length > 0 &&
      table(
        ['denied', 'by', 'since', 'reason'],
        denied.map(({ kind, value, by, at, reason }) => [`${kind} ${value}`, by, since(at), reason]),
      ),
    fees.length > 0 &&
      table(
        ['fees of', 'policy'],
        fees.map(({ scope, policy }) => [feeScopeText(scope), policyText(policy)]),
      ),
    nodes.length > 0 &&
      table(
        ['node', 'change'],
        nodes.map(({ chain, name, ...rest }) => [`${chain}/${name}`, nodeText(rest)]),
      ),
  ].filter(Boolean)
  return [`version ${version}`, ...(parts.length > 0 ? parts : ['Nothing is halted, denied or changed.'])].join('\n\n')
}

function auditText(audit: readonly SettingsChange[]): string {
  if (audit.length === 0) return 'Nothing was ever changed.'
  const rows = audit.toReversed().map(({ version, at, by, order: one, reason }) => [String(version), since(at), by, orderText(one), reason])
  return table(['version', 'when', 'by', 'what', 'reason'], rows)
}

function orderText(one: SettingsOrder): string {
  switch (one.kind) {
    case 'halt':
    case 'unhalt':
      return `${one.kind} ${scopeText(one.scope)}`
    case 'deny':
    case 'allow':
      return `${one.kind} ${one.what} ${one.value}`
    case 'setFees':
      return `fees of ${feeScopeText(one.scope)}: ${policyText(one.policy)}`
    case 'setNode':
      return `node ${one.change.chain}/${one.change.name}: ${nodeText(one.change)}`
    case 'clearNode':
      return `node ${one.chain}/${one.name}: change taken back`
  }
}

function policyText(policy: FeePolicy): string {
  return (Object.keys(policy) as (keyof FeePolicy)[]).map((name) => `${name}=${limitText(name, policy[name])}`).join(' ') || 'none'
}

function nodeText({
  disabled,
  url,
  use,
}: {
  readonly disabled: boolean
  readonly url?: string | undefined
  readonly use?: string | undefined
}): string {
  return [disabled ? 'disabled' : 'enabled', url, use].filter(Boolean).join(' ')
}
