import { resolve } from 'node:path'
import type { Config } from '../config/schema.ts'
import { loadConfig } from '../config/load.ts'

/** What a command needs of the process it runs in; `process` itself is one. */
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

/** What a command returns: its exit code. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** What the commands share: the process, the options that are everywhere, and how a command says its exit code. */
export interface Cli {
  readonly context: CliContext
  /** Wraps a handler: it gets the global options, and what it returns is the exit code. */
  action<Args extends unknown[]>(handler: (globals: GlobalOptions, ...args: Args) => Promise<ExitCode>): (...args: Args) => Promise<void>
}

/** The file of --config, else of PORTAGE_CONFIG, else portage.yaml in the working directory. */
export function configPath(context: CliContext, { config }: GlobalOptions): string {
  return resolve(context.cwd(), config ?? context.env['PORTAGE_CONFIG'] ?? 'portage.yaml')
}

export async function readConfig(context: CliContext, options: GlobalOptions): Promise<Config> {
  return loadConfig(configPath(context, options), context.env)
}
