export interface CliContext {
  readonly env: NodeJS.ProcessEnv
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number }
  cwd(): string
  on(event: 'SIGINT' | 'SIGTERM', listener: () => void): unknown
  off(event: 'SIGINT' | 'SIGTERM', listener: () => void): unknown
}

export interface GlobalOptions {
  readonly config?: string
  readonly json?: true
  readonly wide?: true
  readonly verbose?: true
  readonly tokenFile?: string
}

/** `failure`: an error, or a command whose answer is "no". `usage`: the command line is wrong. */
export const exitCodes = { ok: 0, failure: 1, usage: 2 } as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Calls `use` with a signal that the first SIGINT or SIGTERM aborts. The second SIGINT or SIGTERM ends the process. */
export async function withInterrupt<Result>(context: CliContext, use: (interrupted: AbortSignal) => Promise<Result>): Promise<Result> {
  const stop = new AbortController()
  const signals = ['SIGINT', 'SIGTERM'] as const
  const release = (): void => signals.forEach((one) => context.off(one, interrupt))
  const interrupt = (): void => {
    release()
    stop.abort()
  }
  signals.forEach((one) => context.on(one, interrupt))
  try {
    return await use(stop.signal)
  } finally {
    release()
  }
}
