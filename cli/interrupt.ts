import type { CliContext } from './context.ts'

/** Calls `listener` at the first SIGINT or SIGTERM; a second one ends the process. The result removes the listener. */
export function onInterrupt(context: CliContext, listener: () => void): () => void {
  const release = (): void => {
    context.off('SIGINT', once)
    context.off('SIGTERM', once)
  }
  const once = (): void => {
    release()
    listener()
  }
  context.on('SIGINT', once)
  context.on('SIGTERM', once)
  return release
}
