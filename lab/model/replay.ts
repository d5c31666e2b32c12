import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ModelStep, readTrace } from './trace.ts'
import { differences, type TlaValue } from './value.ts'

/** `abstraction`: the reducer's state in the form of the model's variable. */
export interface Replay {
  /** Throws Error if the reducer's answer differs from the model's. */
  step(step: ModelStep): void
  readonly abstraction: TlaValue
}

export interface Drift {
  readonly run: string
  /** Actions up to the first step after which reducer and model differ. */
  readonly steps: readonly string[]
  readonly differences: readonly string[]
}

export interface Replayed {
  readonly runs: number
  readonly actions: Readonly<Record<string, number>>
  readonly drift?: Drift
}

export async function replayFolder(folder: string, variable: string, begin: () => Replay): Promise<Replayed> {
  const actions: Record<string, number> = {}
  const files = (await readdir(folder)).toSorted()
  for (const file of files) {
    const steps = readTrace(await readFile(join(folder, file), 'utf8'))
    for (const { name } of steps) actions[name] = (actions[name] ?? 0) + 1
    const drift = driftOf(steps, variable, begin())
    if (drift) return { runs: files.length, actions, drift: { run: file, ...drift } }
  }
  return { runs: files.length, actions }
}

/** Repeats the steps with the reducer. Undefined if the reducer's state equals the model's state after every step. */
export function driftOf(steps: readonly ModelStep[], variable: string, reducer: Replay): Omit<Drift, 'run'> | undefined {
  for (const [index, step] of steps.entries()) {
    const found = differencesAfter(step, variable, reducer)
    if (found.length > 0) return { steps: steps.slice(1, index + 1).map(nameOf), differences: found }
  }
  return undefined
}

function differencesAfter(step: ModelStep, variable: string, reducer: Replay): readonly string[] {
  try {
    reducer.step(step)
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
  return differences(step.state[variable] ?? null, reducer.abstraction, variable)
}

const nameOf = ({ state }: ModelStep): string => (Array.isArray(state['act']) ? state['act'].flat(2).map(String).join(' ') : '')
