import { toRelayerError } from '../domain/catalogue/errors.ts'

/** Runs every part in sequence, even after a failure. Throws the first failure at the end. */
export async function runAll(...parts: readonly (() => Promise<void>)[]): Promise<void> {
  const errors: unknown[] = []
  for (const part of parts) await part().catch((error: unknown) => errors.push(error))
  if (errors.length > 0) throw toRelayerError(errors[0])
}
