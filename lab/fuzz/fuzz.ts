import fc from 'fast-check'
import { InvalidArgumentError } from 'commander'
import { errorCatalogue, RelayerError } from '../../domain/catalogue/errors.ts'
import { invisible } from '../../domain/text/printable.ts'

/** One reader of what strangers write. */
export interface FuzzTarget<Input = never> {
  readonly name: string
  /** Plain JSON, so that what is found can be kept. */
  readonly input: fc.Arbitrary<Input>
  /** Reads the input. Any error that `allowed` does not name is a finding, as is a FuzzFinding. */
  readonly read: (input: Input) => unknown
  readonly allowed: (error: unknown) => boolean
}

export const target = <Input>(
  name: string,
  input: fc.Arbitrary<Input>,
  read: (input: Input) => unknown,
  allowed: FuzzTarget['allowed'] = isTyped,
): FuzzTarget => ({ name, input, read, allowed }) as FuzzTarget<Input> as unknown as FuzzTarget

/** A reader that broke its promise. */
export interface Finding {
  readonly target: string
  readonly seed: number
  readonly path: string
  readonly input: unknown
  readonly error: string
}

/** Longest that one input may take, ms, on a busy machine. */
const slowMs = 5_000

/** A typed error, whose code is one of the catalogue; INTERNAL is what anything untyped becomes. */
export function isTyped(error: unknown): boolean {
  return error instanceof RelayerError && error.code !== 'INTERNAL' && Object.hasOwn(errorCatalogue, error.code)
}

/** An error of the domain's checks: it names the field, and shows nothing of the value. */
export function namesField(error: unknown): boolean {
  return error instanceof Error && error.constructor === Error && /^[\w.[\]-]{0,300}: /.test(error.message)
}

/** Checks a text for operators: short, one line, printable, whatever its source. */
export const wordsOf = (text: string): boolean => text.length <= 2_000 && text.search(invisible()) < 0

/** A wrong command line. */
export const isUsage = (error: unknown): boolean => error instanceof InvalidArgumentError

/** Throws what the reader threw that it may not throw, and Error where it took too long. */
export async function tryInput<Input>({ read, allowed }: FuzzTarget<Input>, input: Input): Promise<void> {
  const begun = process.cpuUsage()
  try {
    await read(input)
  } catch (error) {
    if (!allowed(error)) throw error
  }
  // The CPU time, because a busy machine makes every reader late.
  const { user, system } = process.cpuUsage(begun)
  if (user + system > slowMs * 1_000) throw new Error(`it took longer than ${slowMs} ms`)
}

/** Gives a reader inputs of a seed until the first that it fails on; undefined if it passes all. */
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
