import { onTestFinished, TestRunner } from 'vitest'

const afterFile: (() => unknown)[] = []

/** Runs `ends` after the current test, in reverse order. Outside a test, runs them after the last test of the file. */
export function cleanUp(...ends: readonly (() => unknown)[]): void {
  if (TestRunner.getCurrentTest()) for (const end of ends) onTestFinished(async () => void (await end()))
  else afterFile.push(...ends)
}

export async function cleanUpFile(): Promise<void> {
  const errors: unknown[] = []
  for (const end of afterFile.splice(0).toReversed()) {
    try {
      await end()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, 'Clean-up failed')
}
