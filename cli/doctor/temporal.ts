import type { Config } from '../../config/schema.ts'
import { connectServerInfo, type ServerInfo } from '../../temporal/client/server-info.ts'
import { searchAttributes } from '../../temporal/contracts/names.ts'
import { type Check, checkTimeoutMs, type Finding, look } from './check.ts'

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
  const remedy = `temporal operator namespace create --namespace ${namespace} --retention 72h`
  return { status: 'fail', detail: `there is no namespace ${namespace}`, remedy }
}

async function checkAttributes(server: ServerInfo, namespace: string): Promise<Finding> {
  const missing = await server.missingSearchAttributes()
  if (missing.length === 0)
    return Object.values(searchAttributes)
      .map(({ name }) => name)
      .join(', ')
  const options = missing.map((name) => `--name ${name} --type Keyword`).join(' ')
  return {
    status: 'fail',
    detail: `missing: ${missing.join(', ')}`,
    remedy: `temporal operator search-attribute create --namespace ${namespace} ${options}`,
  }
}
