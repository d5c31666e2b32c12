import { id } from 'ethers'
import type { At, Chain, Heads } from '../../chains/port.ts'
import { RelayerError } from '../../domain/errors.ts'
import { type ContractReader, read, tokenAbi } from './contracts.ts'
import { daySeconds, type InboundLimits } from './gates.ts'

/** What reads of the limits need of the target chain. */
export type LimitsChain = ContractReader & {
  readonly heads: Pick<Heads, 'current'>
  /** Absent: there is one, and nobody else to ask. */
  readonly nodes?: Chain['nodes']
}

/** The limits of one target contract. */
export interface Limits {
  /**
   * All of them as of the latest block, for one relayer's account: six reads of one tick, one more tick at first and after a change of the fund.
   * At most once per block, and once per block and account what is the account's, however many ask at once.
   * They may be of two neighbouring blocks: a gate only spares tries, the simulation decides. Throws what `read` throws.
   */
  read(relayer: string): Promise<InboundLimits>
  /**
   * All of them as most nodes have them, for who was told by one that it has to wait; undefined: there is only one, or they do not agree. At most once
   * per block and account. Throws what `read` throws.
   */
  byMost(relayer: string): Promise<InboundLimits | undefined>
  /** Does this account have RELAYER_ROLE? At most one read per block and account; that it has not is the word of most nodes. Throws what `read` throws. */
  mayComplete(relayer: string): Promise<boolean>
  /**
   * The cap as most nodes have it, at the latest state: what parks a transfer is not for one of them to say. At most one read per block. Throws what
   * `read` throws, NODES_DISAGREE.
   */
  agreedCap(): Promise<bigint>
  /** As they were last read, for whichever account; undefined before. */
  readonly last: InboundLimits | undefined
}

const relayerRole = id('RELAYER_ROLE')

/** Who holds which token: the token has no setter, the fund has one. */
interface Known {
  readonly token: string
  readonly fund: string
}

/** What holds for all accounts. */
type Shared = Omit<InboundLimits, 'mayComplete'>

export function createLimits(chain: LimitsChain, bridge: string): Limits {
  let known: Known | undefined
  let last: InboundLimits | undefined
  const shared = oncePerBlock(chain, async () => {
    known ??= await learn()
    return readShared(known)
  })
  const roles = oncePerBlock(chain, (relayer: string) => roleOf(relayer, 'latest'))
  const mostRoles = oncePerBlock(chain, (relayer: string) => unlessDisagreed(roleOf(relayer, 'agreed-latest')))
  const most = oncePerBlock(chain, (relayer: string) => unlessDisagreed(readMost(relayer)))

  async function one<T>(method: string, args: readonly unknown[] = [], at: At = 'latest'): Promise<T> {
    return (await read(chain, bridge, method, args, at))[0] as T
  }

  function roleOf(relayer: string, at: At): Promise<boolean> {
    return one<boolean>('hasRole', [relayerRole, relayer], at)
  }

  async function learn(): Promise<Known> {
    const [token, fund] = await Promise.all([one<string>('token'), one<string>('insuranceFund')])
    return { token, fund }
  }

  async function readShared(holders: Known, at: At = 'latest'): Promise<Shared> {
    const day = Math.floor(secondsOf(chain) / daySeconds)
    const balanceOf = async (owner: string) => (await read(chain, holders.token, 'balanceOf', [owner], at, tokenAbi))[0] as bigint
    const [fund, denominator, used, paused, balance] = await Promise.all([
      one<string>('insuranceFund', [], at),
      one<bigint>('riskDenominator', [], at),
      one<bigint>('inboundRateLimitBudget', [day], at),
      one<boolean>('paused', [], at),
      balanceOf(holders.fund),
    ])
    known = { ...holders, fund }
    // Once, and not until two answers are the same: a node that names another fund each time is not to be asked without end.
    return { day, used, cap: capOf(fund === holders.fund ? balance : await balanceOf(fund), denominator), paused }
  }

  async function readMost(relayer: string): Promise<InboundLimits> {
    const at = 'agreed-latest'
    const [limits, mayComplete] = await Promise.all([readShared((known ??= await learn()), at), roleOf(relayer, at)])
    return { ...limits, mayComplete }
  }

  const agreed = oncePerBlock(chain, async () => {
    const at = 'agreed-latest'
    const [[fund], [denominator]] = await Promise.all([
      read(chain, bridge, 'insuranceFund', [], at),
      read(chain, bridge, 'riskDenominator', [], at),
    ])
    const { token } = (known ??= await learn())
    const [balance] = await read(chain, token, 'balanceOf', [fund], at, tokenAbi)
    return capOf(balance as bigint, denominator as bigint)
  })

  return {
    async read(relayer) {
      const [limits, mayComplete] = await Promise.all([shared(''), roles(relayer)])
      last = { ...limits, mayComplete }
      return last
    },
    async byMost(relayer) {
      if (!hasSeveral(chain)) return undefined
      const limits = await most(relayer)
      if (limits) last = limits
      return limits
    },
    async mayComplete(relayer) {
      const may = await roles(relayer)
      return may || !hasSeveral(chain) ? may : ((await mostRoles(relayer)) ?? may)
    },
    agreedCap: () => agreed(''),
    get last() {
      return last
    },
  }
}

function hasSeveral({ nodes }: LimitsChain): boolean {
  const readers = nodes?.().filter(({ use, state }) => (use === 'all' || use === 'read') && state !== 'disabled') ?? []
  return readers.length > 1
}

async function unlessDisagreed<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof RelayerError && error.code === 'NODES_DISAGREE') return undefined
    throw error
  }
}

/** The contract divides by it: one that was never initialised has 0 there, and lets nothing in. */
function capOf(balance: bigint, denominator: bigint): bigint {
  return denominator === 0n ? 0n : balance / denominator
}

/** Time of the latest block, seconds since the epoch: what the contract's day is cut from. Throws NODE_UNAVAILABLE before the first block. */
export function secondsOf(chain: Pick<LimitsChain, 'name' | 'heads'>): number {
  return latestOf(chain).timestamp
}

/** The same answer for all who ask with the same key while one block is the latest; one that failed is asked for again. */
export function oncePerBlock<T>(chain: Pick<LimitsChain, 'name' | 'heads'>, ask: (key: string) => Promise<T>): (key: string) => Promise<T> {
  let block = ''
  const answers = new Map<string, Promise<T>>()
  return async (key) => {
    const { hash } = latestOf(chain)
    if (hash !== block) answers.clear()
    block = hash
    const known = answers.get(key)
    if (known) return known
    const answer = ask(key)
    answers.set(key, answer)
    answer.catch(() => answers.get(key) === answer && answers.delete(key))
    return answer
  }
}

function latestOf({ name, heads }: Pick<LimitsChain, 'name' | 'heads'>) {
  const latest = heads.current?.latest
  if (!latest) throw new RelayerError('NODE_UNAVAILABLE', { detail: 'No block was read yet.', facts: { chain: name } })
  return latest
}
