import { readFile } from 'node:fs/promises'
import { readSettings } from '../../temporal/client/settings/settings.ts'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { until } from '../../lab/devnet/until.ts'
import type { Stage } from './e2e.ts'

/** Waits until all processes use the present settings. Until then, they may deliver despite a halt. */
export async function settingsReach({ client }: Pick<Stage, 'client'>, ...processes: readonly PortageProcess[]): Promise<void> {
  const { version } = await readSettings(client)
  const known = async () => (await Promise.all(processes.map(knownVersion))).every((one) => one >= version)
  await until(known, { timeoutMs: 60_000, everyMs: 100, what: `version ${version} of the settings to reach every process` })
}

async function knownVersion({ logFile }: PortageProcess): Promise<number> {
  const lines = (await readFile(logFile, 'utf8')).split('\n').filter((line) => line.includes('"message":"settings"'))
  return lines.map((line) => (JSON.parse(line) as { version: number }).version).at(-1) ?? 0
}
