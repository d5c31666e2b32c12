import type { Connection } from '@temporalio/client'
import type { TemporalAccess } from '../../../domain/temporal-access.ts'
import { pause, poll } from '../../../runtime/wait.ts'
import { searchAttributes } from '../../contracts/names.ts'
import { openConnection } from './connect.ts'
import { fromTemporal, isNamespaceMissing, refusalCode } from './errors.ts'

export interface NamespaceSetupOptions {
  /** Of a new namespace. */
  readonly retentionHours: number
  /** For the server to know new names, ms. Default: 30 s. Its cache of namespaces is up to 10 s old. */
  readonly timeoutMs?: number
}

/** `made`: by the set-up. */
export interface NamespaceSetup {
  readonly namespace: { readonly name: string; readonly made: boolean; readonly retentionHours: number }
  readonly searchAttributes: {
    readonly made: readonly string[]
    readonly present: readonly string[]
    /** Not of type Keyword, which breaks queries. A server cannot change a type. */
    readonly wrongType: readonly string[]
    /** Missing, and the server refuses the call: Temporal Cloud, or an API key without the role admin. */
    readonly refused: readonly string[]
  }
}

/** INDEXED_VALUE_TYPE_KEYWORD of Temporal's API. */
const keyword = 2
const hour = 3_600
const pauseMs = 250
const names = Object.values(searchAttributes).map(({ name }) => name)

/** Resolves once the server knows all. Throws as `openConnection`, TEMPORAL_PERMISSION, TEMPORAL_UNAVAILABLE. */
export async function setUpNamespace(target: TemporalAccess, options: NamespaceSetupOptions): Promise<NamespaceSetup> {
  const { retentionHours, timeoutMs = 30_000 } = options
  const { address, namespace } = target
  const connection = await openConnection(target, 5_000)
  const deadline = Date.now() + timeoutMs
  try {
    return await connection.withDeadline(deadline, async () => {
      const made = await makeNamespace(connection, namespace, retentionHours)
      return { namespace: made, searchAttributes: await makeAttributes(connection, namespace, deadline) }
    })
  } catch (error) {
    throw fromTemporal(error, {}, { address, namespace })
  } finally {
    await connection.close()
  }
}

async function makeNamespace(
  { workflowService }: Connection,
  namespace: string,
  retentionHours: number,
): Promise<NamespaceSetup['namespace']> {
  const known = async () => {
    const { config } = await workflowService.describeNamespace({ namespace })
    return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / hour
  }
  try {
    return { name: namespace, made: false, retentionHours: await known() }
  } catch (error) {
    if (!isNamespaceMissing(error)) throw error
  }
  const seconds = retentionHours * hour
  // A number works here. The generated type is a Long.
  await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: { seconds: seconds as never } })
  return { name: namespace, made: true, retentionHours: await known() }
}

type Attributes = NamespaceSetup['searchAttributes']

async function makeAttributes(connection: Connection, namespace: string, deadline: number): Promise<Attributes> {
  const { operatorService } = connection
  /** Numbers of Temporal's API. Undefined: the server refuses the call. */
  const listed = async (): Promise<Record<string, number> | undefined> => {
    const answer = await whenKnown(() => operatorService.listSearchAttributes({ namespace }), deadline).catch((error: unknown) => {
      if (refusalCode(error)) return undefined
      throw error
    })
    return answer && { ...answer.customAttributes }
  }
  const types = await listed()
  if (!types) return { made: [], present: [], wrongType: [], refused: names }
  const wrongType = names.filter((name) => types[name] !== undefined && types[name] !== keyword)
  const present = names.filter((name) => types[name] === keyword)
  const missing = names.filter((name) => types[name] === undefined)
  if (missing.length === 0) return { made: [], present, wrongType, refused: [] }
  const add = () =>
    operatorService.addSearchAttributes({ namespace, searchAttributes: Object.fromEntries(missing.map((name) => [name, keyword])) })
  try {
    await whenKnown(add, deadline)
  } catch (error) {
    if (refusalCode(error)) return { made: [], present, wrongType, refused: missing }
    throw error
  }
  // A workflow that starts right after this needs them.
  const known = async () => {
    const now = await listed()
    return missing.every((name) => now?.[name] === keyword)
  }
  await poll(known, { everyMs: pauseMs, signal: AbortSignal.timeout(Math.max(0, deadline - Date.now())) })
  return { made: missing, present, wrongType, refused: [] }
}

/** The server's cache of namespaces may lack the new one. */
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
