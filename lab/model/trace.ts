import { TlaReader, type TlaRecord, type TlaValue } from './value.ts'

/** `state`: the state after the step. */
export interface ModelStep {
  readonly name: string
  readonly args: readonly TlaValue[]
  readonly state: TlaRecord
}

/** Reads a file of `-simulate file=…`. The variable `act` names the action. Throws Error for other text. */
export function readTrace(text: string): readonly ModelStep[] {
  const states = text.split(/^STATE_\d+ ==\s*$/m).slice(1)
  return states.map((one) => {
    const state = new TlaReader(one.replace(/^=+\s*$/m, '')).state()
    const { act } = state
    const [name, ...args] = Array.isArray(act) ? (act as readonly TlaValue[]) : []
    if (typeof name !== 'string') throw new Error('a state of the trace has no action in its variable act')
    return { name, args, state }
  })
}

export function numberOf(value: TlaValue | undefined): number {
  if (typeof value !== 'number') throw new Error('an argument of an action is not a number')
  return value
}

export function textOf(value: TlaValue | undefined): string {
  if (typeof value !== 'string') throw new Error('an argument of an action is not a string')
  return value
}

export function numbersOf(value: TlaValue | undefined): readonly number[] {
  if (!(value instanceof Set)) throw new Error('an argument of an action is not a set')
  return [...(value as ReadonlySet<TlaValue>)].map(numberOf)
}
