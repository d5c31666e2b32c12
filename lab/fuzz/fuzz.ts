import fc from 'fast-check'
import { InvalidArgumentError } from 'commander'
import { errorCatalogue, RelayerError } from '../../domain/catalogue/errors.ts'
import { invisible } from '../../domain/text/printable.ts'

/** A reader of untrusted input. */
export interface FuzzTarget<Input = never> {
  readonly name: string
  /** Plain JSON, so that findings can be stored. */
  readonly input: fc.Arbitrary<Input>
  /** Reads the input. A FuzzFinding is a finding, and so is every error that `allowed` does not name. */
  readonly read: (input: Input) => unknown
  readonly allowed: (error: unknown) => boolean
}

export const target = <Input>(
  name: string,
  input: fc.Arbitrary<Input>,
  read: (input: Input) => unknown,
  allowed: FuzzTarget['allowed'] = isTyped,
): FuzzTarget => ({ name, input, read, allowed }) as FuzzTarget<Input> as unknown as FuzzTarget

/** A broken promise of a reader. */
export interface Finding {
  readonly target: string
  readonly seed: number
  readonly path: string
  readonly input: unknown
  readonly error: string
}

/** Longest time for one input, ms, on a busy machine. */
const slowMs = 5_000

/** A typed error with a code of the catalogue. INTERNAL marks an untyped error. */
export function isTyped(error: unknown): boolean {
  return error instanceof RelayerError && error.code !== 'INTERNAL' && Object.hasOwn(errorCatalogue, error.code)
}

/** An error of the domain's checks. It names the field and never shows the value. */
export function namesField(error: unknown): boolean {
  return error instanceof Error && error.constructor === Error && /^[\w.[\]-]{0,300}: /.test(error.message)
}

/** Checks a text for operators: short, one line, printable. */
export const wordsOf = (text: string): boolean => text.length <= 2_000 && text.search(invisible()) < 0

/** An invalid command line. */
export const isUsage = (error: unknown): boolean => error instanceof InvalidArgumentError

/** Throws the reader's error if it is not allowed, and Error if the reader took too long. */
export async function tryInput<Input>({ read, allowed }: FuzzTarget<Input>, input: Input): Promise<void> {
  const begun = process.cpuUsage()
  try {
    await read(input)
  } catch (error) {
    if (!allowed(error)) throw error
  }
  // CPU time, because a busy machine makes every reader late.
  const { user, system } = process.cpuUsage(begun)
  if (user + system > slowMs * 1_000) throw new Error(`it took longer than ${slowMs} ms`)
}

/** Gives a reader the inputs of a seed up to the first one that it fails on. Undefined if it passes all. */
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
