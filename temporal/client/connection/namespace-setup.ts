import type { Connection } from '@temporalio/client'
import type { TemporalAccess } from '../../../domain/temporal-access.ts'
import { pause, poll } from '../../../runtime/wait.ts'
import { searchAttributes } from '../../contracts/names.ts'
import { fromTemporal, ifNamespaceMissing, ifRefused, isNamespaceMissing } from './errors.ts'
import { openConnection } from './probe.ts'

export type NamespaceSetup = Awaited<ReturnType<typeof setUpNamespace>>

/** INDEXED_VALUE_TYPE_KEYWORD of Temporal's API. */
const keyword = 2
const hour = 3_600
const pauseMs = 250
/** Maximum wait for the namespace, ms. The server's cache of namespaces is up to 10 s old. */
const timeoutMs = 30_000
const names = Object.values(searchAttributes).map(({ name }) => name)

/** Creates the namespace and search attributes, and waits for them. Throws the errors of `openConnection`. */
export async function setUpNamespace(target: TemporalAccess, { retentionHours }: { readonly retentionHours: number }) {
  const { address, namespace } = target
  const connection = await openConnection(target)
  const deadline = Date.now() + timeoutMs
  try {
    return await connection.withDeadline(deadline, async () => {
      const kept = await readRetentionHours(connection, namespace).catch(ifNamespaceMissing(undefined))
      if (kept === undefined) await makeNamespace(connection, namespace, retentionHours)
      const hours = kept ?? (await readRetentionHours(connection, namespace))
      return {
        namespace: { name: namespace, made: kept === undefined, retentionHours: hours },
        searchAttributes: await makeAttributes(connection, namespace, deadline),
      }
    })
  } catch (error) {
    throw fromTemporal(error, {}, { address, namespace })
  } finally {
    await connection.close()
  }
}

export type ServerInfo = Awaited<ReturnType<typeof connectServerInfo>>

export async function connectServerInfo(target: TemporalAccess, connectTimeoutMs: number) {
  const { namespace } = target
  const connection = await openConnection(target, { timeoutMs: connectTimeoutMs })
  return {
    version: async () => (await connection.workflowService.getSystemInfo({})).serverVersion,
    retentionHours: () => readRetentionHours(connection, namespace).catch(ifNamespaceMissing(undefined)),
    async missingSearchAttributes() {
      const types = await attributeTypes(connection, namespace).catch(ifRefused(undefined))
      return types && names.filter((name) => types[name] === undefined)
    },
    close: () => connection.close(),
  }
}

export async function readRetentionHours({ workflowService }: Pick<Connection, 'workflowService'>, namespace: string): Promise<number> {
  const { config } = await workflowService.describeNamespace({ namespace })
  return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / hour
}

async function attributeTypes({ operatorService }: Connection, namespace: string): Promise<Readonly<Record<string, number>>> {
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace })
  return { ...customAttributes }
}

async function makeNamespace({ workflowService }: Connection, namespace: string, retentionHours: number): Promise<void> {
  // A number works although the generated type is a Long.
  const seconds = (retentionHours * hour) as never
  await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: { seconds } })
}

async function makeAttributes(connection: Connection, namespace: string, deadline: number) {
  const listed = () => whenKnown(() => attributeTypes(connection, namespace), deadline).catch(ifRefused(undefined))
  const types = await listed()
  if (!types) return { made: [], present: [], wrongType: [], refused: names }
  // A type other than Keyword breaks queries, and a server cannot change the type of an attribute.
  const wrongType = names.filter((name) => types[name] !== undefined && types[name] !== keyword)
  const present = names.filter((name) => types[name] === keyword)
  const missing = names.filter((name) => types[name] === undefined)
  if (missing.length === 0) return { made: [], present, wrongType, refused: [] }
  const added = { namespace, searchAttributes: Object.fromEntries(missing.map((name) => [name, keyword])) }
  const answer = await whenKnown(() => connection.operatorService.addSearchAttributes(added), deadline).catch(ifRefused(undefined))
  if (!answer) return { made: [], present, wrongType, refused: missing }
  const known = async () => {
    const now = await listed()
    return missing.every((name) => now?.[name] === keyword)
  }
  await poll(known, { everyMs: pauseMs, signal: AbortSignal.timeout(Math.max(0, deadline - Date.now())) })
  return { made: missing, present, wrongType, refused: [] }
}

async function whenKnown<Answer>(call: () => Promise<Answer>, deadline: number): Promise<Answer> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!isNamespaceMissing(error) || Date.now() + pauseMs > deadline) throw error
      await pause(pauseMs)
    }
  }
}
