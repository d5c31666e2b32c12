import { onTestFinished, vi } from 'vitest'

/** Collects warnings until the end of the test, so that they do not appear in the output. */
export function hearWarnings(): readonly string[] {
  const heard: string[] = []
  const hearing = vi.spyOn(process, 'emitWarning').mockImplementation((warning) => void heard.push(String(warning)))
  onTestFinished(() => hearing.mockRestore())
  return heard
}
