import { votersOf } from '../../chains/heads.ts'
import type { Chain } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { isNamespaceMissing, refusalCode } from '../../temporal/client/connection/errors.ts'
import { checkNamespace } from '../../temporal/client/connection/probe.ts'
import { keptRead } from '../../runtime/shared-read.ts'
import { within } from '../../runtime/wait.ts'

/** Time limit of a check, ms. Load balancers wait no longer than this. */
const timeoutMs = 3_000
/** Time for which requests share an answer, ms. They need no token and have no rate limit. */
const keepMs = 1_000

export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly vital: boolean
  readonly problem?: string | undefined
}

/** `problem` is public: it contains neither an address nor a namespace. Never throws. */
export function createTemporalCheck(client: TemporalClient): () => Promise<Check> {
  const late = () => Promise.reject(new Error(`no answer within ${timeoutMs} ms`))
  const check = async () => {
    const problem = await within(timeoutMs, checkNamespace(client, timeoutMs), late).then(() => undefined, problemOf)
    return { name: 'temporal', ok: problem === undefined, vital: true, problem }
  }
  return keptRead(check, { fromAnswer: keepMs })
}

function problemOf(error: unknown): string {
  const code = isNamespaceMissing(error) ? 'TEMPORAL_NAMESPACE' : (refusalCode(error) ?? 'TEMPORAL_UNAVAILABLE')
  return new RelayerError(code).message
}

/**
 * A chain that does not answer delays only its own transfers, so the checks are vital only if all fail. The checks of
 * `oracles` are never vital.
 */
export function checkChains(
  chains: Iterable<Pick<Chain, 'name' | 'heads' | 'nodes'>>,
  oracles: ReadonlySet<ChainName> = new Set(),
): Check[] {
  const found = [...chains].map(({ name, heads, nodes }) => {
    const answers = votersOf(nodes()).some(({ state }) => state === 'up')
    const { current } = heads
    const age = current?.time === undefined ? '' : `; the newest known block is of ${new Date(current.time * 1_000).toISOString()}`
    const problem = current === undefined ? 'no block was seen yet' : answers ? undefined : `none of its nodes answers${age}`
    return { name: `chain ${name}`, ok: problem === undefined, problem, isNeeded: !oracles.has(name) }
  })
  const allFail = found.every(({ ok, isNeeded }) => !(ok && isNeeded))
  return found.map(({ isNeeded, ...check }) => ({ ...check, vital: allFail && isNeeded }))
}
