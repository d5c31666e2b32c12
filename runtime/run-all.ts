import { toRelayerError } from '../domain/catalogue/errors.ts'

/** Runs every part, one after the other, whatever becomes of the others; then throws what the first that failed has thrown. */
export async function runAll(...parts: readonly (() => Promise<void>)[]): Promise<void> {
  const errors: unknown[] = []
  for (const part of parts) await part().catch((error: unknown) => errors.push(error))
  if (errors.length > 0) throw toRelayerError(errors[0])
}
