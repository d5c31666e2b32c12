import type { Command } from 'commander'
import { Interface } from 'ethers'
import { type OrderName, orderOf, orders } from '../operations/orders/orders.ts'
import { invalid, type OrderContext, type OrderResult, type OrderSpec } from '../operations/orders/spec.ts'
import type { Config } from '../config/schema/schema.ts'
import type { TemporalClient } from '../temporal/client/connection/client.ts'
import { laneArgument, streamArgument, withChain } from './arguments/subjects.ts'
import { addField, type Reasoned, valuesOf, withReason } from './arguments/options.ts'
import type { Call, Commands, CommandSpec } from './command.ts'
import { facts, type Outcome } from './output/output.ts'
import type { Intent } from '../domain/lane/lane.ts'
import type { ChainName } from '../domain/transfer/transfer.ts'

export type OrderOptions = Reasoned & { readonly chain?: string; readonly wait?: true } & Readonly<Record<string, unknown>>

export interface Wait {
  readonly help: string
  readonly until: (call: Call<OrderOptions>, client: TemporalClient, result: OrderResult) => Promise<Outcome>
}

export function orderCommand(name: OrderName, wait?: Wait): CommandSpec {
  const spec = orderOf(name)
  const { fields = {} } = spec
  return {
    ...orderText(name),
    options: (command) => {
      if (spec.subject) subjects[spec.subject](command)
      for (const one of Object.values(fields)) addField(command, one)
      if (wait) command.option('--wait', wait.help)
      return spec.reason ? withReason(command, spec.reason) : command
    },
    run: async (call: Call<OrderOptions>, ...typed: unknown[]) => {
      const subject = spec.subject ? String(typed.shift()) : ''
      return giveOrder(call, name, subject, valuesOf(fields, call.options, typed), wait)
    },
  }
}

/** Gives an order under the name of the token. Throws INPUT_INVALID, ACCESS_*, TEMPORAL_* and the order's errors. */
export async function giveOrder(
  call: Call<OrderOptions>,
  name: OrderName,
  subject: string,
  given: object,
  wait?: Wait,
  more: Partial<OrderContext> = {},
): Promise<Outcome> {
  const { misuse, conflict, run } = orderOf(name)
  const detail = misuse?.(given as never)
  if (detail !== undefined) call.misuse(detail)
  const wrong = conflict?.(given as never)
  if (wrong) throw invalid(`--${wrong.path}: ${wrong.message}`)
  if (!run) throw new Error(`${name} has steps of its own`)
  return call.withOrder(async (client, config, allow) => {
    const context: OrderContext = {
      ...{ client, config, allow, chain: call.options.chain },
      withChain: (chain, use) => withChain(config, chain, use),
      heights: () => undefined,
      sweepToken: (chain, transfer) => sweepToken(config, chain, transfer),
      ...more,
    }
    const result = await run(context, subject, given as never)
    if (wait && call.options.wait) return wait.until(call, client, result)
    const { json, text, failed } = result
    return { json, text: typeof text === 'string' ? text : facts(text), ...(failed && { failed }) }
  })
}

export function orderCommands(group: string, waits: Partial<Record<OrderName, Wait>> = {}): Commands {
  const names = (Object.keys(orders) as OrderName[]).filter(
    (name) => orderOf(name).run && /^\S+ \S+$/.test(name) && name.startsWith(`${group} `),
  )
  return Object.fromEntries(names.map((name): [string, CommandSpec] => [name.slice(group.length + 1), orderCommand(name, waits[name])]))
}

export function orderText(name: OrderName): Pick<CommandSpec, 'description' | 'notes' | 'examples'> {
  const { summary, details, notes, examples } = orderOf(name)
  return { description: [`${summary}.`, details].filter(Boolean).join(' '), ...(notes !== undefined && { notes }), examples }
}

const subjects: Readonly<Record<NonNullable<OrderSpec['subject']>, (command: Command) => Command>> = {
  lane: laneArgument,
  stream: streamArgument,
  receiver: (command) => command.argument('<receiver>', 'name of the receiver in the config'),
  transaction: (command) => command.argument('<id>', 'id of the transaction, or the end of the id, as portage lane transactions shows it'),
}

const erc20 = new Interface(['function transfer(address, uint256)', 'function balanceOf(address)'])

/** Returns the call that sends the whole balance of a token. Throws INPUT_INVALID if it is 0 or no token answers. */
function sweepToken(config: Config, name: ChainName, { from, to, token }: Record<'from' | 'to' | 'token', string>): Promise<Intent> {
  return withChain(config, name, async (chain) => {
    const answer = await chain.call(token, erc20.encodeFunctionData('balanceOf', [from]), 'latest')
    if (!/^0x[0-9a-f]{64}$/i.test(answer)) throw invalid('no ERC-20 token answers', { token })
    const balance = BigInt(answer)
    if (balance === 0n) throw invalid('the lane has none of this token', { token })
    return { to: token, data: erc20.encodeFunctionData('transfer', [to, balance]), value: '0' }
  })
}
