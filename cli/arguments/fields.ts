import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import type { Field, Fields } from '../../operations/orders/spec.ts'
import { numberWithin, parse } from './options.ts'

/** Adds the argument or the option of a field of an order. */
export function addField(command: Command, field: Field): void {
  const { flag, help, choices, schema } = field
  if (!isOption(field)) {
    const argument = new Argument(flag, help)
    command.addArgument(choices ? argument.choices(choices) : argument.argParser(parserOf(field)))
    return
  }
  const option = new Option(flag, help)
  if (choices) option.choices(choices)
  if (field.repeats || (!choices && field.kind !== 'flag')) option.argParser(parserOf(field))
  const absent = schema.safeParse(undefined)
  command.addOption(absent.success ? option.default(absent.data) : option.makeOptionMandatory())
}

/** As commander has read them. @param typed the arguments, in the order of the fields */
export function valuesOf(fields: Fields, options: Readonly<Record<string, unknown>>, typed: readonly unknown[] = []): object {
  const left = [...typed]
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, isOption(field) ? options[new Option(field.flag).attributeName()] : left.shift()]),
  )
}

function isOption({ flag }: Field): boolean {
  return flag.startsWith('--')
}

function parserOf({ kind, bounds = [0, 0], usual, repeats, choices = [] }: Field): (text: string, before: unknown) => unknown {
  if (repeats)
    return (text, before = []) => {
      if (choices.includes(text)) return [...(before as string[]), text]
      throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`)
    }
  const read = kind === 'within' ? numberWithin(...bounds) : parse[kind as keyof typeof parse]
  return (text) => (usual !== undefined && text === usual ? undefined : read(text))
}
