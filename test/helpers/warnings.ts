import { onTestFinished, vi } from 'vitest'

/**
 * Collects the texts of this process's warnings until the end of the test. Deliberate warnings then do not appear in
 * the output of the run.
 */
export function hearWarnings(): readonly string[] {
  const heard: string[] = []
  const hearing = vi.spyOn(process, 'emitWarning').mockImplementation((warning) => void heard.push(String(warning)))
  onTestFinished(() => hearing.mockRestore())
  return heard
}
