import { onTestFinished, vi } from 'vitest'

/**
 * Collects the process's warnings until the end of the test. So deliberate warnings do not appear in the output of the
 * run.
 */
export function hearWarnings(): readonly string[] {
  const heard: string[] = []
  const hearing = vi.spyOn(process, 'emitWarning').mockImplementation((warning) => void heard.push(String(warning)))
  onTestFinished(() => hearing.mockRestore())
  return heard
}
