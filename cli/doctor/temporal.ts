import type { Config } from '../../config/schema.ts'
import { connectServerInfo, type ServerInfo } from '../../temporal/client/connect.ts'
import { searchAttributes } from '../../temporal/contracts/names.ts'
import { type Check, checkTimeoutMs, fail, type Finding, look } from './check.ts'

const area = 'temporal'

/** Checks that the server answers, the namespace exists, and it has our search attributes. Each is checked only if the one before is well. */
export async function checkTemporal({ temporal }: Config): Promise<Check[]> {
  let server: ServerInfo | undefined
  const found = await look(area, 'server', async () => {
    server = await connectServerInfo(temporal, checkTimeoutMs / 2)
    return `${temporal.address}, version ${(await server.version()) ?? 'unknown'}`
  })
  if (!server) return [found]
  const info = server
  try {
    const namespace = await look(area, 'namespace', () => checkNamespace(info, temporal.namespace))
    if (namespace.status !== 'ok') return [found, namespace]
    return [found, namespace, await look(area, 'search attributes', () => checkAttributes(info, temporal.namespace))]
  } finally {
    await info.close()
  }
}

async function checkNamespace(server: ServerInfo, namespace: string): Promise<Finding> {
  const hours = await server.retentionHours()
  if (hours !== undefined) return `${namespace}, closed workflows are kept ${hours} h`
  return fail(`there is no namespace ${namespace}`, `temporal operator namespace create --namespace ${namespace} --retention 72h`)
}

async function checkAttributes(server: ServerInfo, namespace: string): Promise<Finding> {
  const missing = await server.missingSearchAttributes()
  const all = Object.values(searchAttributes).map(({ name }) => name)
  if (missing.length === 0) return all.join(', ')
  const options = missing.map((name) => `--name ${name} --type Keyword`).join(' ')
  return fail(`missing: ${missing.join(', ')}`, `temporal operator search-attribute create --namespace ${namespace} ${options}`)
}
