/** The parts of the process that a command uses; `process` itself is one. */
export interface CliContext {
  readonly env: NodeJS.ProcessEnv
  readonly stdin: NodeJS.ReadableStream
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean }
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean }
  cwd(): string
  on(event: 'SIGINT' | 'SIGTERM', listener: () => void): unknown
  off(event: 'SIGINT' | 'SIGTERM', listener: () => void): unknown
}

/** The options that every command has. */
export interface GlobalOptions {
  readonly config?: string
  readonly json?: true
  readonly verbose?: true
}

/** 0: done. 1: it failed, or the answer is no. 2: the command line is wrong. */
export const exitCodes = { ok: 0, failure: 1, usage: 2 } as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

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
