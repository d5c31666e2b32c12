import { toRelayerError } from '../domain/catalogue/errors.ts'

/** Runs the parts one after another, even after a failure. Throws the first failure at the end. */
export async function runAll(...parts: readonly (() => Promise<void>)[]): Promise<void> {
  const errors: unknown[] = []
  for (const part of parts) await part().catch((error: unknown) => errors.push(error))
  if (errors.length > 0) throw toRelayerError(errors[0])
}
