import { setTimeout as delay } from 'node:timers/promises'
import type { Connection } from '@temporalio/client'
import type { TemporalAccess } from '../../../domain/temporal-access.ts'
import { searchAttributes } from '../../contracts/names.ts'
import { openConnection } from './connect.ts'
import { fromTemporal, isNamespaceMissing, refusalCode } from './errors.ts'

export interface NamespaceSetupOptions {
  /** How long closed workflows are kept in a namespace that is made now, hours. */
  readonly retentionHours: number
  /** How long a server may take to know what was just made, ms. Default: 30 s; its own cache of namespaces is up to 10 s old. */
  readonly timeoutMs?: number
}

/** What the server has after the set-up, and what of that was made now. */
export interface NamespaceSetup {
  readonly namespace: { readonly name: string; readonly made: boolean; readonly retentionHours: number }
  readonly searchAttributes: {
    readonly made: readonly string[]
    readonly present: readonly string[]
    /** Of another type than Keyword: Portage's queries fail with them, and a server changes no type. */
    readonly wrongType: readonly string[]
    /** Not there, and the server lets nobody make them by this call: Temporal Cloud, or an API key without the role admin. */
    readonly refused: readonly string[]
  }
}

/** INDEXED_VALUE_TYPE_KEYWORD of Temporal's API. */
const keyword = 2
const hour = 3_600
const pauseMs = 250
const names = Object.values(searchAttributes).map(({ name }) => name)

/**
 * Makes the namespace and Portage's search attributes where they are missing, and changes nothing that is there: a second call makes nothing. Resolves once the
 * server knows them. Throws as `openConnection`, TEMPORAL_PERMISSION where the namespace is missing and may not be made, TEMPORAL_UNAVAILABLE.
 */
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
  // The server's client takes whole numbers here; the type of the generated code is a Long.
  await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: { seconds: seconds as never } })
  return { name: namespace, made: true, retentionHours: await known() }
}

type Attributes = NamespaceSetup['searchAttributes']

async function makeAttributes(connection: Connection, namespace: string, deadline: number): Promise<Attributes> {
  const { operatorService } = connection
  /** The type of each attribute, as a number of Temporal's API; undefined: the server does not let us ask. */
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
  // A first workflow start right after this needs them.
  const known = async () => {
    const now = await listed()
    return missing.every((name) => now?.[name] === keyword)
  }
  while (Date.now() < deadline && !(await known())) await delay(pauseMs)
  return { made: missing, present, wrongType, refused: [] }
}

/** Again and again while the server's cache of namespaces does not have a new one. */
async function whenKnown<Answer>(call: () => Promise<Answer>, deadline: number): Promise<Answer> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!isNamespaceMissing(error) || Date.now() + pauseMs > deadline) throw error
      await delay(pauseMs)
    }
  }
}
