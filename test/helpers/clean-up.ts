import { onTestFinished, TestRunner } from 'vitest'

const afterFile: (() => unknown)[] = []

/** Runs `end` after the current test or, outside a test, after the last test of the file. The latest `end` runs first. */
export function cleanUp(end: () => unknown): void {
  if (TestRunner.getCurrentTest()) onTestFinished(async () => void (await end()))
  else afterFile.push(end)
}

/** Runs the ends of the file, all of them. Throws the errors of those that failed. Called by setup.ts. */
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
