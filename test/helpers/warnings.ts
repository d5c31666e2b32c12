import { onTestFinished, vi } from 'vitest'

/**
 * Warnings of this process as texts, until the end of the test. Deliberate ones do not appear in the output of the run.
 */
export function hearWarnings(): readonly string[] {
  const heard: string[] = []
  const hearing = vi.spyOn(process, 'emitWarning').mockImplementation((warning) => void heard.push(String(warning)))
  onTestFinished(() => hearing.mockRestore())
  return heard
}
