/** Calls a listener. What it throws becomes a warning of the process, so that it does not stop the others. */
export function isolate(listener: () => void): void {
  try {
    listener()
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error))
  }
}
