import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import { type Form, forms, isDay, isOf, parseTime } from '../../domain/text/forms.ts'
import { parseAge } from '../../domain/text/age.ts'
import { type Amount, parseAmount } from '../../domain/text/amounts.ts'
import type { Order } from '../../domain/order.ts'
import { type Field, type Fields, invalid, type OrderSpec } from '../../operations/orders/spec.ts'
import type { CliContext } from '../context.ts'
import type { FeeScope } from '../../domain/fees/fees.ts'

/** The options of an order name no author, because the access token names the author. */
export type Reasoned = Pick<Order, 'reason'>

export function withReason(command: Command, reason: NonNullable<OrderSpec['reason']> = 'required'): Command {
  const option = new Option('--reason <text>', 'reason, kept in the history')
  if (typeof reason === 'object') option.default(reason.usual)
  return command.addOption(reason === 'required' ? option.makeOptionMandatory() : option)
}

function matching(form: Form): (text: string) => string {
  return (text) => {
    if (isOf(form, text)) return text
    throw new InvalidArgumentError(`It must be ${form.what}.`)
  }
}

const inLowerCase = (form: Form) => {
  const read = matching(form)
  return (text: string) => read(text).toLowerCase()
}

/** Returns a parser of numbers from `from` to `to`. They must be whole, unless `pattern` allows others. */
export function numberWithin(
  from: number,
  to: number,
  rule = `It must be a whole number from ${from} to ${to}.`,
  pattern = forms.count.pattern,
) {
  return (text: string): number => {
    const number = pattern.test(text) ? Number(text) : NaN
    if (number >= from && number <= to) return number
    throw new InvalidArgumentError(rule)
  }
}

export const portOf = numberWithin(0, 65_535)

export function collect(value: string, previous: readonly string[] = []): string[] {
  return [...previous, value]
}

export function utcDay(text: string): string {
  if (isDay(text)) return text
  throw new InvalidArgumentError('It must be a day of the calendar: 2026-11-22.')
}

const fraction = /^[0-9.]+$/
const codeOf = matching(forms.code)

/** Parsers for the kinds of values that orders have (`operations/orders/values.ts`), and for some other options. */
export const parse = {
  text: (text: string) => text,
  number: numberWithin(0, 999_999_999_999_999, 'It must be a whole number.'),
  closed: numberWithin(0, 999, 'It must be a whole number below 1000.'),
  hours: numberWithin(Number.MIN_VALUE, 8_760, 'It must be a number of hours above 0, at most 8760.', fraction),
  gasFactor: numberWithin(1, 5, 'It must be a number from 1 to 5.', fraction),
  tipFactor: numberWithin(0.5, 10, 'It must be a number from 0.5 to 10.', fraction),
  bumpPercent: numberWithin(10, 100),
  priority: numberWithin(1, 5),
  chainName: matching(forms.name),
  /** Returns wei, decimal. */
  wei(this: void, text: string): string {
    const amount = parseAmount(text)
    if (amount && (amount.coin === undefined || amount.coin === 'ETH')) return amount.wei
    throw new InvalidArgumentError('It must be an amount with a unit, like 5gwei or 0.05ether; a number alone is wei.')
  },
  amount(this: void, text: string): Amount {
    const amount = parseAmount(text)
    if (amount) return amount
    throw new InvalidArgumentError(
      'It must be an amount with a unit, like 0.05ETH (the coin of the chain), 5gwei or 1000000wei; a number alone is wei.',
    )
  },
  gas: matching(forms.gas),
  address: inLowerCase(forms.address),
  bytes: inLowerCase(forms.bytes),
  hash: inLowerCase(forms.hash),
  feeScope: parseFeeScope,
  code: (text: string) => codeOf(text.toUpperCase()),
  /** Returns ms. */
  age(this: void, text: string): number {
    return parseAge(matching(forms.age)(text)) ?? 0
  },
  /** Returns ms since the epoch. */
  time(this: void, text: string): number {
    const at = parseTime(text)
    if (at !== undefined) return at
    throw new InvalidArgumentError(
      'It must be a day (UTC) or a time with its zone: 2026-11-22, 2026-11-22T17:00Z or 2026-11-22T17:00+01:00.',
    )
  },
  pastTime(this: void, text: string): number {
    const at = parse.time(text)
    if (at > Date.now()) throw new InvalidArgumentError('It is in the future.')
    return at
  },
  url: matching(forms.url),
  u64: matching(forms.u64),
  lane: inLowerCase(forms.lane),
}

/** Parses a fee scope in the form that `feeScopeText` returns. Throws InvalidArgumentError. */
export function parseFeeScope(text: string): FeeScope {
  const [, kind, rest = ''] = /^(\w+)(?::(.+))?$/.exec(text) ?? []
  if (kind === 'global' && rest === '') return { kind }
  if (rest !== '') {
    if (kind === 'chain') return { kind, chain: rest }
    if (kind === 'lane') return { kind, lane: rest }
    if (kind === 'transfer') return { kind, id: rest }
    if (kind === 'call') {
      const [chain, contract, selector, more] = rest.split('/')
      if (chain && contract && more === undefined) return { kind, chain, contract, selector }
    }
  }
  throw new InvalidArgumentError('It must be global, chain:<name>, call:<chain>/<contract>[/<selector>], lane:<id> or transfer:<id>.')
}

export function addField(command: Command, field: Field): void {
  const { flag, help, choices, schema } = field
  if (!isOption(field)) {
    const argument = new Argument(flag, help)
    command.addArgument(choices ? argument.choices(choices) : argument.argParser(parserOf(field)))
    return
  }
  const option = new Option(flag, help)
  if (choices) option.choices(choices)
  else if (field.kind !== 'flag') option.argParser(parserOf(field))
  const one = option.parseArg
  if (field.repeats) option.argParser((text: string, before?: readonly string[]) => collect(one?.(text, '') ?? text, before))
  const absent = schema.safeParse(undefined)
  command.addOption(absent.success ? option.default(absent.data) : option.makeOptionMandatory())
}

/** Returns the values of an order's fields by name. `typed` has the arguments, in the sequence of the fields. */
export function valuesOf(fields: Fields, options: Readonly<Record<string, unknown>>, typed: readonly unknown[] = []): object {
  const left = [...typed]
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, isOption(field) ? options[new Option(field.flag).attributeName()] : left.shift()]),
  )
}

function isOption({ flag }: Field): boolean {
  return flag.startsWith('--')
}

function parserOf({ kind, bounds = [0, 0], usual }: Field): (text: string) => unknown {
  const read = kind === 'within' ? numberWithin(...bounds) : parse[kind as keyof typeof parse]
  return (text) => (usual !== undefined && text === usual ? undefined : read(text))
}

/** Reads a file. Throws INPUT_INVALID with the message `problem` if the file cannot be read. */
export function textOfFile({ cwd }: CliContext, file: string, problem: string): Promise<string> {
  return readFile(resolve(cwd(), file), 'utf8').catch((cause: unknown) => {
    throw invalid(problem, { file }, cause)
  })
}

/** Calls `write`. Throws INPUT_INVALID if `write` fails. The message is `ifExists` if the file exists already. */
export async function writing(file: string, ifExists: string, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (cause) {
    const exists = (cause as NodeJS.ErrnoException).code === 'EEXIST'
    throw invalid(exists ? ifExists : 'The file cannot be written.', { file }, cause)
  }
}
