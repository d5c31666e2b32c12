import fc from 'fast-check'
import { InvalidArgumentError } from 'commander'
import { errorCatalogue, RelayerError } from '../../domain/catalogue/errors.ts'
import { invisible } from '../../domain/text/printable.ts'

export interface FuzzTarget<Input = never> {
  readonly name: string
  /** Plain JSON, so that findings can be stored. */
  readonly input: fc.Arbitrary<Input>
  /** Each thrown error is a finding, unless `allowed` accepts the error. */
  readonly read: (input: Input) => unknown
  readonly allowed: (error: unknown) => boolean
}

export const target = <Input>(
  name: string,
  input: fc.Arbitrary<Input>,
  read: (input: Input) => unknown,
  allowed: FuzzTarget['allowed'] = isTyped,
): FuzzTarget => ({ name, input, read, allowed }) as FuzzTarget<Input> as unknown as FuzzTarget

export interface Finding {
  readonly target: string
  readonly seed: number
  readonly path: string
  readonly input: unknown
  readonly error: string
}

/** Maximum CPU time of one input, ms. */
const slowMs = 5_000

/** Whether the error has a code of the catalogue other than INTERNAL, the code of untyped errors. */
export function isTyped(error: unknown): boolean {
  return error instanceof RelayerError && error.code !== 'INTERNAL' && Object.hasOwn(errorCatalogue, error.code)
}

/** Whether the error comes from a check in `domain`, whose errors name the field and never show the value. */
export function namesField(error: unknown): boolean {
  return error instanceof Error && error.constructor === Error && /^[\w.[\]-]{0,300}: /.test(error.message)
}

/** Whether operators can read a text: short, one line, printable. */
export const wordsOf = (text: string): boolean => text.length <= 2_000 && text.search(invisible()) < 0

export const isUsage = (error: unknown): boolean => error instanceof InvalidArgumentError

/** Calls the reader with one input. Throws errors that are not allowed, and Error if the reader was slow. */
export async function tryInput<Input>({ read, allowed }: FuzzTarget<Input>, input: Input): Promise<void> {
  const begun = process.cpuUsage()
  try {
    await read(input)
  } catch (error) {
    if (!allowed(error)) throw error
  }
  // Measures CPU time, because wall time grows with the machine's load.
  const { user, system } = process.cpuUsage(begun)
  if (user + system > slowMs * 1_000) throw new Error(`it took longer than ${slowMs} ms`)
}

export async function fuzz<Input>(target: FuzzTarget<Input>, seed: number, runs: number, untilMs = Infinity): Promise<Finding | undefined> {
  const property = fc.asyncProperty(target.input, (input) => tryInput(target, input))
  const limit = Number.isFinite(untilMs) && { interruptAfterTimeLimit: Math.max(1, untilMs - Date.now()), markInterruptAsFailure: false }
  const found = await fc.check(property, { seed, numRuns: runs, ...limit })
  if (!found.failed) return undefined
  const [input] = found.counterexample ?? []
  const error =
    found.errorInstance instanceof Error ? (found.errorInstance.stack ?? found.errorInstance.message) : String(found.errorInstance)
  return { target: target.name, seed, path: found.counterexamplePath ?? '', input, error }
}
