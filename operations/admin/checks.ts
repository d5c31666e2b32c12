import { setTimeout as delay } from 'node:timers/promises'
import { votersOf } from '../../chains/heads.ts'
import type { Chain, HeadEvent } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { isNamespaceMissing, refusalCode } from '../../temporal/client/connection/errors.ts'
import { checkNamespace } from '../../temporal/client/connection/probe.ts'
import { keptRead } from '../../runtime/shared-read.ts'

/** A slower answer of Temporal is a failure, ms: load balancers do not wait longer either. */
const timeoutMs = 3_000
/** Temporal's answer is given again for so long, ms: anybody may ask, as often as he likes. */
const keepMs = 1_000

/** One thing that a process depends on. `problem`: what is wrong; absent where `ok`. Without a vital one the process is not ready. */
export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly vital: boolean
  readonly problem?: string | undefined
}

/** Asks Temporal whether it answers, once a second at most. The problem names neither its address nor its namespace: they are not for everybody. Throws never. */
export function createTemporalCheck(client: TemporalClient): () => Promise<Check> {
  const check = async () => {
    const problem = await temporalProblem(client)
    return { name: 'temporal', ok: problem === undefined, vital: true, problem }
  }
  return keptRead(check, { fromAnswer: keepMs })
}

async function temporalProblem(client: TemporalClient): Promise<string | undefined> {
  const late = async () => {
    await delay(timeoutMs, undefined, { ref: false })
    throw new Error(`no answer within ${timeoutMs} ms`)
  }
  try {
    await Promise.race([checkNamespace(client, timeoutMs), late()])
    return undefined
  } catch (error) {
    const code = isNamespaceMissing(error) ? 'TEMPORAL_NAMESPACE' : (refusalCode(error) ?? 'TEMPORAL_UNAVAILABLE')
    return new RelayerError(code).message
  }
}

/**
 * The chains of a process as its nodes answer now. One that is away holds up only its own transfers; a process all of whose chains are away can do nothing, and
 * is not ready.
 */
export function checkChains(chains: Iterable<Pick<Chain, 'name' | 'heads' | 'nodes'>>): Check[] {
  const found = [...chains].map(({ name, heads, nodes }) => {
    const answers = votersOf(nodes()).some(({ state }) => state === 'up')
    const { current } = heads
    const problem = current === undefined ? 'no block was seen yet' : answers ? undefined : `none of its nodes answers${lastBlock(current)}`
    return { name: `chain ${name}`, ok: problem === undefined, problem }
  })
  const vital = found.every(({ ok }) => !ok)
  return found.map((check) => ({ ...check, vital }))
}

/** A head that was seen says nothing of now. */
function lastBlock({ latest: { timestamp } }: HeadEvent): string {
  return Number.isFinite(timestamp) ? `; the newest block that was seen is of ${new Date(timestamp * 1_000).toISOString()}` : ''
}
