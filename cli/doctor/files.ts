import { stat } from 'node:fs/promises'
import { lanesOf } from '../../config/chains.ts'
import type { Config } from '../../config/schema/schema.ts'
import type { TemporalAccess } from '../../domain/temporal-access.ts'
import { type Check, checkOf, type Finding, warn } from './check.ts'

const othersWrite = 0o022
const othersAny = 0o077

/** Checks the access rights to the config, the data folder and the files of secrets. Makes no checks on Windows. */
export async function checkFiles(configFile: string, config: Config, temporal: TemporalAccess): Promise<Check[]> {
  if (process.platform === 'win32') return []
  const all = [...lanesOf(config).map(({ lane }) => lane), config.bridges.executor?.quoter]
  const signers = all.flatMap((one) => (one?.signer?.kind === 'keystore' ? [one.signer] : []))
  const secrets = [
    temporal.tls?.key?.file,
    temporal.apiKey?.file,
    ...(temporal.encryption?.keys ?? []).map(({ source }) => source.file),
    ...config.notifications.flatMap((receiver) => receiver.secrets.map(({ secretFile }) => secretFile)),
    ...signers.flatMap(({ file, passwordFile }) => [file, passwordFile]),
  ]
  const checks = await Promise.all([
    check('config file', configFile, othersWrite),
    check('data folder', config.dataFolder, othersWrite),
    ...secrets.flatMap((file) => (file === undefined ? [] : [check('secret', file, othersAny)])),
  ])
  return checks.flat()
}

async function check(what: string, path: string, forbidden: number): Promise<Check[]> {
  const found = await stat(path).catch(() => undefined)
  return found ? [checkOf('files', `${what} ${path}`, modeFinding(found.mode & 0o777, forbidden))] : []
}

function modeFinding(mode: number, forbidden: number): Finding {
  const text = `mode ${mode.toString(8)}`
  if ((mode & forbidden) === 0) return text
  const who = forbidden === othersWrite ? 'other users can write it and so decide what Portage does' : 'other users can use its contents'
  return warn(`${text}: ${who}`, `chmod ${forbidden === othersWrite ? 'go-w' : 'go-rwx'}`)
}
