import type { ErrorDescription, Interface, Result } from 'ethers'
import type { At } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'

export interface ContractReader {
  readonly name: string
  /** Throws NODE_UNAVAILABLE, NODE_REFUSED and, if `at` asks most nodes, NODES_DISAGREE. */
  call(to: string, data: string, at: At): Promise<string>
}

/** Time after which a contract's setting is read again, ms. The contract's owner may have changed the setting. */
export const ttlMs = 60_000
/** Minimum age of a setting that is read again because a message contradicts it, ms. */
export const doubtedEveryMs = 1_000

export interface View {
  readonly abi: Interface
  readonly to: string
  readonly method: string
  readonly args?: readonly unknown[]
  readonly at?: At
}

/** After a malformed answer of one node, most nodes are asked, so that a lying node cannot stop reads. */
const ofMost: Partial<Record<At, At>> = { latest: 'majority-latest', finalized: 'agreed' }

/** Throws the errors of `call`, and NODE_REFUSED for a malformed answer. */
export async function read(chain: ContractReader, view: View): Promise<Result> {
  const { abi, to, method, args = [], at = 'latest' } = view
  const answer = await chain.call(to, abi.encodeFunctionData(method, args), at)
  try {
    const values = abi.decodeFunctionResult(method, answer)
    // ethers throws for a bad value only when the value is read.
    values.toArray(true)
    return values
  } catch (cause) {
    const most = ofMost[at]
    if (most) return read(chain, { ...view, at: most })
    const detail = `${to} does not answer ${method} as the bridge's contract does: check its address in the config.`
    throw new RelayerError('NODE_REFUSED', { detail, facts: { chain: chain.name }, cause })
  }
}

/** Resolves to undefined if `work` fails with an error that `isSuch` accepts. */
export async function unless<T>(work: Promise<T>, isSuch: (error: RelayerError) => boolean): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof RelayerError && isSuch(error)) return undefined
    throw error
  }
}

export function unlessDisagreed<T>(reading: Promise<T>): Promise<T | undefined> {
  return unless(reading, ({ code }) => code === 'NODES_DISAGREE')
}

/** Runs at most `perTick` reads at a time. */
export async function inTicks<K, V>(keys: readonly K[], readOne: (key: K) => Promise<V>, perTick = 100): Promise<readonly V[]> {
  const values: V[] = []
  for (let from = 0; from < keys.length; from += perTick) {
    values.push(...(await Promise.all(keys.slice(from, from + perTick).map(readOne))))
  }
  return values
}

/**
 * Reads per batch with `agreed`. The number is large, because a chain's only node is asked twice, one block apart, so
 * each batch takes the time of a block.
 */
export const agreedPerTick = 1_000

export type Finality = Extract<At, 'finalized' | 'agreed'>

/**
 * Asks one node for each key, then most nodes for doubtful answers. Undefined for a key on which the nodes disagree.
 */
export async function askMostIf<K, V>(
  keys: readonly K[],
  readAt: (key: K, at: Finality) => Promise<V>,
  isDoubtful: (value: V) => boolean,
): Promise<readonly (V | undefined)[]> {
  const answers = await inTicks(keys, async (key) => ({ key, value: await readAt(key, 'finalized') }))
  const doubtful = answers.filter(({ value }) => isDoubtful(value))
  const agreed = await inTicks(doubtful, ({ key }) => unlessDisagreed(readAt(key, 'agreed')), agreedPerTick)
  const settled = new Map(doubtful.map((answer, index) => [answer, agreed[index]]))
  return answers.map((answer) => (settled.has(answer) ? settled.get(answer) : answer.value))
}

/** Asks most nodes to confirm `delivered`, because a transfer that counts as delivered is never started. */
export async function deliveredBy(
  isDelivered: (transfer: Transfer, at: Finality) => Promise<boolean>,
  transfers: readonly Transfer[],
): Promise<readonly boolean[]> {
  const shown = await askMostIf(transfers, isDelivered, (delivered) => delivered)
  return shown.map((delivered) => delivered === true)
}

/** Undefined if the ABI lacks the error, or if its values are invalid. */
export function parseRevert(abi: Interface, data: string): Pick<ErrorDescription, 'name' | 'args'> | undefined {
  try {
    const error = abi.parseError(data)
    // ethers throws for invalid UTF-8 only when the text is read.
    error?.args.toArray(true)
    return error ?? undefined
  } catch {
    return undefined
  }
}
