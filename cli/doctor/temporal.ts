import { Connection } from '@temporalio/client'
import type { Config } from '../../config/schema.ts'
import { searchAttributes } from '../../temporal/contracts/names.ts'
import { isNamespaceMissing } from '../../temporal/client/errors.ts'
import { connectionError } from '../../temporal/client/probe.ts'
import type { Check } from './check.ts'
import { checkTimeoutMs, look } from './check.ts'

const area = 'temporal'

/** The server answers, the namespace exists, and it has our search attributes. What needs the one before is not looked at without it. */
export async function checkTemporal({ temporal }: Config): Promise<Check[]> {
  const { address, namespace } = temporal
  let connection: Connection | undefined
  const server = await look(area, 'server', async () => {
    try {
      connection = await Connection.connect({ address, connectTimeout: checkTimeoutMs / 2 })
      const { serverVersion } = await connection.workflowService.getSystemInfo({})
      return `${address}, version ${serverVersion ?? 'unknown'}`
    } catch (cause) {
      throw await connectionError(address, cause)
    }
  })
  if (!connection) return [server]
  try {
    const found = await look(area, 'namespace', () => checkNamespace(connection!, namespace))
    if (found.status !== 'ok') return [server, found]
    return [server, found, await look(area, 'search attributes', () => checkAttributes(connection!, namespace))]
  } finally {
    await connection.close()
  }
}

async function checkNamespace(connection: Connection, namespace: string) {
  try {
    const { config } = await connection.workflowService.describeNamespace({ namespace })
    const hours = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / 3600
    return `${namespace}, closed workflows are kept ${hours} h`
  } catch (error) {
    if (!isNamespaceMissing(error)) throw error
    const remedy = `temporal operator namespace create --namespace ${namespace} --retention 72h`
    return { status: 'fail', detail: `there is no namespace ${namespace}`, remedy } as const
  }
}

async function checkAttributes(connection: Connection, namespace: string) {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace })
  const wanted = Object.values(searchAttributes).map(({ name }) => name)
  const missing = wanted.filter((name) => customAttributes?.[name] === undefined)
  if (missing.length === 0) return wanted.join(', ')
  const remedy = `temporal operator search-attribute create --namespace ${namespace} ${missing.map((name) => `--name ${name} --type Keyword`).join(' ')}`
  return { status: 'fail', detail: `missing: ${missing.join(', ')}`, remedy } as const
}
