import { userInfo } from 'node:os'
import type { Command } from 'commander'
import { changeSettings } from '../api/settings.ts'
import { namesOf } from '../api/settings-scopes.ts'
import type { HaltScope, Settings, SettingsOrder } from '../domain/settings/settings.ts'
import type { Cli, ExitCode, GlobalOptions } from './context.ts'
import { exitCodes, readConfig } from './context.ts'
import { facts, print } from './output.ts'
import { withClient } from './temporal.ts'

/** Adds `--reason`, which every change needs, and `--by`. */
export function withAuthor(command: Command): Command {
  return command
    .requiredOption('--reason <text>', 'why; kept in the audit')
    .option('--by <name>', 'who; kept in the audit (default: the user of the operating system)')
}

/**
 * Orders a change and prints what came of it. Throws INPUT_INVALID, SETTINGS_UNREACHABLE, TEMPORAL_UNAVAILABLE.
 * @param note what the reader should know when the settings have changed, or did not need to
 */
export async function order(
  { context }: Cli,
  globals: GlobalOptions,
  { by, reason }: { by?: string; reason: string },
  orders: readonly SettingsOrder[],
  note: { readonly done: string; readonly same: string },
): Promise<ExitCode> {
  const config = await readConfig(context, globals)
  const request = { by: by ?? osUser(), reason, orders: [...orders] }
  const { before, after } = await withClient(config, (client) => changeSettings(client, namesOf(config), request))
  const changed = after.version > before.version
  print(
    context,
    globals,
    { changed, ...withoutAudit(after) },
    facts({ [changed ? 'done' : 'unchanged']: changed ? note.done : note.same, version: after.version }),
  )
  return exitCodes.ok
}

export function withoutAudit({ audit: _, ...settings }: Settings): Omit<Settings, 'audit'> {
  return settings
}

/** `everything`, or what narrows it. */
export function scopeText({ bridge, chain, sourceChain, targetChain }: HaltScope): string {
  const parts = [
    bridge && `bridge ${bridge}`,
    chain && `chain ${chain}`,
    sourceChain && `from ${sourceChain}`,
    targetChain && `to ${targetChain}`,
  ].filter(Boolean)
  return parts.length === 0 ? 'everything' : parts.join(', ')
}

/** A container may have no name for the user that it runs as. */
export function osUser(): string {
  try {
    return userInfo().username || 'unknown'
  } catch {
    return 'unknown'
  }
}
