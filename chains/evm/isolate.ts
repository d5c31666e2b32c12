/** Calls a listener whose throw is its own problem: it surfaces as a warning of the process and stops nobody else. */
export function isolate(listener: () => void): void {
  try {
    listener()
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error))
  }
}
