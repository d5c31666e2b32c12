import type { Config } from '../../config/schema/schema.ts'
import type { ResolvedTemporal } from '../../config/temporal-access.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { TemporalAccess } from '../../domain/temporal-access.ts'
import { connectServerInfo, type ServerInfo } from '../../temporal/client/connection/namespace-setup.ts'
import { searchAttributes } from '../../temporal/contracts/names.ts'
import { connectionExposure, payloadExposure } from '../../temporal/client/connection/exposure.ts'
import { probeTemporal } from '../../temporal/client/connection/probe.ts'
import { readPayloadKeys } from '../../temporal/encryption/codec.ts'
import { type Check, checkTimeoutMs, fail, type Finding, look, orError, warn } from './check.ts'

const area = 'temporal'
const names = Object.values(searchAttributes).map(({ name }) => name)

export async function checkTemporal(_: Config, temporal: ResolvedTemporal): Promise<Check[]> {
  const reached = await look(area, 'access', () => accessFinding(temporal))
  const payloads = await look(area, 'payloads', () => checkPayloads(temporal))
  return [reached, payloads, ...(await checkServer(temporal))]
}

function checkPayloads(temporal: ResolvedTemporal): Finding {
  const { encryption } = temporal
  if (encryption) {
    const [first, ...others] = readPayloadKeys(encryption).map(({ id }) => id)
    const reads = others.length > 0 ? `, read also with ${others.join(', ')}` : ''
    return `encrypted with the key ${first}${reads}; unencrypted payloads are ${encryption.required ? 'refused' : 'read, too'}`
  }
  const open = payloadExposure(temporal)
  return open ? warn(open.what, open.remedy) : 'not encrypted; Temporal is on this machine'
}

function accessFinding(temporal: ResolvedTemporal): Finding {
  const settings = temporal.settings.map((setting) => `${setting.name} ${settingText(setting)}`).join(', ')
  const open = connectionExposure(temporal)
  return open ? warn(`${settings}; ${open.what}`, open.remedy) : settings
}

async function checkServer(temporal: TemporalAccess): Promise<Check[]> {
  let server: ServerInfo | undefined
  const found = await look(area, 'server', async () => {
    server = await connectServerInfo(temporal, checkTimeoutMs / 2)
    return `${temporal.address}, version ${(await server.version()) || 'unknown'}`
  })
  if (!server) return [found]
  const info = server
  try {
    const namespace = await look(area, 'namespace', () => checkNamespace(info, temporal.namespace))
    if (namespace.status !== 'ok') return [found, namespace]
    const permission = await look(area, 'permission', () => checkPermission(temporal))
    return [found, namespace, permission, await look(area, 'search attributes', () => checkAttributes(info))]
  } finally {
    await info.close()
  }
}

async function checkNamespace(server: ServerInfo, namespace: string): Promise<Finding> {
  const hours = await server.retentionHours()
  if (hours !== undefined) return `${namespace}, closed workflows are kept ${hours} h`
  return fail(`there is no namespace ${namespace}`, 'portage setup temporal')
}

async function checkPermission(temporal: TemporalAccess): Promise<Finding> {
  const refused = await orError(probeTemporal(temporal, { writes: true, timeoutMs: checkTimeoutMs / 2 }), 'TEMPORAL_PERMISSION')
  if (!(refused instanceof RelayerError)) return 'can read and write'
  return warn('can read, and not write: neither orders nor workers are possible with this API key or certificate', refused.remedy)
}

async function checkAttributes(server: ServerInfo): Promise<Finding> {
  const missing = await server.missingSearchAttributes()
  // Undefined at Temporal Cloud, which lists search attributes only in its own API and UI.
  if (!missing) return warn('the server does not list them', `They must exist, of the type Keyword: ${names.join(', ')}.`)
  if (missing.length === 0) return names.join(', ')
  return fail(`missing: ${missing.join(', ')}`, 'portage setup temporal')
}

export function temporalText(settings: ResolvedTemporal['settings']): Record<string, string> {
  return Object.fromEntries(settings.map((setting) => [`temporal ${setting.name}`, settingText(setting)]))
}

function settingText({ value, from }: ResolvedTemporal['settings'][number]): string {
  return value === undefined ? `from ${from}` : `${value} (${from})`
}
