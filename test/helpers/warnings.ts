import { onTestFinished, vi } from 'vitest'

/** Warnings of this process, as texts, from here to the end of the test: those that a test makes on purpose stay out of the output of the run. */
export function hearWarnings(): readonly string[] {
  const heard: string[] = []
  const hearing = vi.spyOn(process, 'emitWarning').mockImplementation((warning) => void heard.push(String(warning)))
  onTestFinished(() => hearing.mockRestore())
  return heard
}
