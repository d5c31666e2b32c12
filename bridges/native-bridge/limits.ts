import { id } from 'ethers'
import { currentHead, type HeadSource, oncePerHead, votersOf } from '../../chains/heads.ts'
import type { At, Chain } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { type ContractReader, read, unlessDisagreed } from '../kit/contract-reader.ts'
import { nativeBridgeAbi, tokenAbi } from './contracts.ts'
import { daySeconds, type InboundLimits } from './gates.ts'

/** What reads of the limits need of the target chain. */
export interface LimitsChain extends ContractReader, HeadSource {
  /** Absent: there is one. */
  readonly nodes?: Chain['nodes']
}

export interface ReadLimits extends InboundLimits {
  /** Of the latest block when the read began: they may not count what later blocks completed. */
  readonly height: number
}

const relayerRole = id('RELAYER_ROLE')

/** The limits of one target contract. Each read is made at most once per block (and account), however many ask at once. All throw what `read` throws. */
export function createLimits(chain: LimitsChain, bridge: string) {
  const reads = createReads(chain, bridge)
  const shared = oncePerHead(chain, () => reads.shared('latest'))
  const sharedByMost = oncePerHead(chain, () => unlessDisagreed(reads.shared('agreed-latest')))
  const roles = oncePerHead(chain, (relayer) => reads.mayComplete(relayer, 'latest'))
  const rolesByMost = oncePerHead(chain, (relayer) => unlessDisagreed(reads.mayComplete(relayer, 'agreed-latest')))
  let last: ReadLimits | undefined
  let started = 0
  let lastStarted = 0

  /** An answer that took longer than a later one is not the last. */
  function keep(limits: ReadLimits, turn: number): ReadLimits {
    if (turn > lastStarted) [last, lastStarted] = [limits, turn]
    return limits
  }

  return {
    /** As of the latest block. The reads may be of two neighbouring blocks: a gate only spares tries, the simulation decides. */
    async read(relayer: string): Promise<ReadLimits> {
      const turn = ++started
      const [limits, mayComplete] = await Promise.all([shared(), roles(relayer)])
      return keep({ ...limits, mayComplete }, turn)
    },
    /** The same as most nodes have them, where one of them lets nothing in; undefined: there is only one node, or they do not agree. */
    async byMost(relayer: string): Promise<ReadLimits | undefined> {
      if (!hasSeveral(chain)) return undefined
      const turn = ++started
      const [limits, mayComplete] = await Promise.all([sharedByMost(), rolesByMost(relayer)])
      return limits && mayComplete !== undefined ? keep({ ...limits, mayComplete }, turn) : undefined
    },
    /** Does this account have RELAYER_ROLE? That it does not is the word of most nodes. */
    async mayComplete(relayer: string): Promise<boolean> {
      const may = await roles(relayer)
      return may || !hasSeveral(chain) ? may : ((await rolesByMost(relayer)) ?? may)
    },
    /** The cap as most nodes have it, at the latest state: what parks a transfer is not for one of them to say. Throws NODES_DISAGREE. */
    async agreedCap(): Promise<bigint> {
      const limits = await sharedByMost()
      if (limits) return limits.cap
      throw new RelayerError('NODES_DISAGREE', { detail: `The limits of ${bridge} differ.`, facts: { chain: chain.name } })
    },
    get last() {
      return last
    },
  }
}

/** The reads themselves. The token has no setter and is remembered, so it is the word of most nodes; the fund has one, so that it is read each time. */
function createReads(chain: LimitsChain, bridge: string) {
  let known: { readonly token: string; readonly fund: string } | undefined

  async function one<T>(method: string, at: At, args: readonly unknown[] = []): Promise<T> {
    return (await read(chain, { abi: nativeBridgeAbi, to: bridge, method, args, at }))[0] as T
  }

  async function learn() {
    const [token, fund] = await Promise.all([one<string>('token', 'majority-latest'), one<string>('insuranceFund', 'latest')])
    return { token, fund }
  }

  return {
    mayComplete: (relayer: string, at: At) => one<boolean>('hasRole', at, [relayerRole, relayer]),
    /** What holds for all accounts. */
    async shared(at: At): Promise<Omit<ReadLimits, 'mayComplete'>> {
      const { height } = currentHead(chain).latest
      const { token, fund: likely } = (known ??= await learn())
      const day = Math.floor(secondsOf(chain) / daySeconds)
      const balanceOf = async (owner: string) =>
        (await read(chain, { abi: tokenAbi, to: token, method: 'balanceOf', args: [owner], at }))[0] as bigint
      const [fund, denominator, used, paused, balance] = await Promise.all([
        one<string>('insuranceFund', at),
        one<bigint>('riskDenominator', at),
        one<bigint>('inboundRateLimitBudget', at, [day]),
        one<boolean>('paused', at),
        balanceOf(likely),
      ])
      known = { token, fund }
      // Once, and not until two answers are the same: a node that names another fund each time is not to be asked without end.
      const held = fund === likely ? balance : await balanceOf(fund)
      // A contract that was never initialised has no denominator, and lets nothing in.
      return { day, used, cap: denominator === 0n ? 0n : held / denominator, paused, height }
    },
  }
}

function hasSeveral({ nodes }: LimitsChain): boolean {
  return votersOf(nodes?.() ?? []).length > 1
}

/** Time of the latest block, seconds since the epoch: what the contract's day is cut from. Throws NODE_UNAVAILABLE before the first block. */
export function secondsOf(chain: HeadSource): number {
  return currentHead(chain).latest.timestamp
}
