import fc from 'fast-check'
import { InvalidArgumentError } from 'commander'
import { errorCatalogue, RelayerError } from '../../domain/catalogue/errors.ts'
import { invisible } from '../../domain/text/printable.ts'

/** A reader of untrusted input. */
export interface FuzzTarget<Input = never> {
  readonly name: string
  /** Makes inputs. They are plain JSON, so that findings can be stored. */
  readonly input: fc.Arbitrary<Input>
  /**
   * Reads the input. Every thrown error is a finding, unless `allowed` returns true for it. A FuzzFinding always is
   * one.
   */
  readonly read: (input: Input) => unknown
  readonly allowed: (error: unknown) => boolean
}

export const target = <Input>(
  name: string,
  input: fc.Arbitrary<Input>,
  read: (input: Input) => unknown,
  allowed: FuzzTarget['allowed'] = isTyped,
): FuzzTarget => ({ name, input, read, allowed }) as FuzzTarget<Input> as unknown as FuzzTarget

/** An input on which a reader broke its promise. */
export interface Finding {
  readonly target: string
  readonly seed: number
  readonly path: string
  readonly input: unknown
  readonly error: string
}

/** Longest time for one input on a busy machine, ms of CPU. */
const slowMs = 5_000

/** Whether the error is typed, with a code of the catalogue. INTERNAL marks an untyped error. */
export function isTyped(error: unknown): boolean {
  return error instanceof RelayerError && error.code !== 'INTERNAL' && Object.hasOwn(errorCatalogue, error.code)
}

/** Whether the error is one of the domain's checks, which name the field and never show the value. */
export function namesField(error: unknown): boolean {
  return error instanceof Error && error.constructor === Error && /^[\w.[\]-]{0,300}: /.test(error.message)
}

/** Whether a text is fit for operators: short, one line, printable. */
export const wordsOf = (text: string): boolean => text.length <= 2_000 && text.search(invisible()) < 0

/** Whether the error is about an invalid command line. */
export const isUsage = (error: unknown): boolean => error instanceof InvalidArgumentError

/**
 * Gives the reader one input. Throws the reader's error if it is not allowed, and Error if the reader took too long.
 */
export async function tryInput<Input>({ read, allowed }: FuzzTarget<Input>, input: Input): Promise<void> {
  const begun = process.cpuUsage()
  try {
    await read(input)
  } catch (error) {
    if (!allowed(error)) throw error
  }
  // Measure CPU time, because on a busy machine every reader is late.
  const { user, system } = process.cpuUsage(begun)
  if (user + system > slowMs * 1_000) throw new Error(`it took longer than ${slowMs} ms`)
}

/** Gives a reader the inputs of a seed until it fails on one. Undefined if it passes all. */
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
