import type { ErrorDescription, Interface, Result } from 'ethers'
import type { At } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'

/** What reads of a contract need of a chain. */
export interface ContractReader {
  readonly name: string
  /** eth_call: 0x hex. Throws NODE_UNAVAILABLE, NODE_REFUSED; NODES_DISAGREE at `agreed`. */
  call(to: string, data: string, at: At): Promise<string>
}

/** A view function of a contract. */
export interface View {
  readonly abi: Interface
  readonly to: string
  readonly method: string
  readonly args?: readonly unknown[]
  /** Absent: latest. */
  readonly at?: At
}

/** Where one node's word is no answer of the contract, that of most of them is asked for: a node that lies stops no read. */
const ofMost: Partial<Record<At, At>> = { latest: 'majority-latest', finalized: 'agreed' }

/** All values of a view function. Throws NODE_REFUSED if the address does not answer as the contract does (a wrong address in the config), and what `call` throws. */
export async function read(chain: ContractReader, view: View): Promise<Result> {
  const { abi, to, method, args = [], at = 'latest' } = view
  const answer = await chain.call(to, abi.encodeFunctionData(method, args), at)
  try {
    const values = abi.decodeFunctionResult(method, answer)
    // ethers throws for a value that is badly encoded only when it is read.
    values.toArray(true)
    return values
  } catch (cause) {
    const most = ofMost[at]
    if (most) return read(chain, { ...view, at: most })
    const detail = `${to} does not answer ${method} as the bridge's contract does: check its address in the config.`
    throw new RelayerError('NODE_REFUSED', { detail, facts: { chain: chain.name }, cause })
  }
}

/** Undefined where it fails with such an error. */
export async function unless<T>(reading: Promise<T>, isSuch: (error: RelayerError) => boolean): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof RelayerError && isSuch(error)) return undefined
    throw error
  }
}

/** Undefined where the nodes do not agree. */
export function unlessDisagreed<T>(reading: Promise<T>): Promise<T | undefined> {
  return unless(reading, ({ code }) => code === 'NODES_DISAGREE')
}

/** As many reads at a time as one request of most gateways takes. */
export async function inTicks<K, V>(keys: readonly K[], readOne: (key: K) => Promise<V>, perTick = 100): Promise<readonly V[]> {
  const values: V[] = []
  for (let from = 0; from < keys.length; from += perTick) {
    values.push(...(await Promise.all(keys.slice(from, from + perTick).map(readOne))))
  }
  return values
}

/** Reads at a time at `agreed`, where a single node is asked twice, a block apart: all wait for one block, and the node gets them by the hundred. */
export const agreedPerTick = 1_000

/** One node's word on the finalized state, or that of more than half of them. */
export type Finality = Extract<At, 'finalized' | 'agreed'>

/** One node's answers at the finalized state; doubtful ones are asked of most of the nodes, and are undefined where those do not agree. */
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

/** The custom error, Error(string) or Panic(uint256) of revert bytes; undefined: none that this ABI knows, or not well encoded. */
export function parseRevert(abi: Interface, data: string): Pick<ErrorDescription, 'name' | 'args'> | undefined {
  try {
    const error = abi.parseError(data)
    // ethers throws for a text that is no UTF-8 only when it is read.
    error?.args.toArray(true)
    return error ?? undefined
  } catch {
    return undefined
  }
}
