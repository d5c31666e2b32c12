import { id } from 'ethers'
import { chainTime, currentHead, type HeadSource, oncePerHead, votersOf } from '../../chains/heads.ts'
import type { At, Chain } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { type ContractReader, read, unlessDisagreed } from '../kit/contract-reader.ts'
import { nativeBridgeAbi, tokenAbi } from './contracts.ts'
import type { Gate } from '../port.ts'

/** Amounts are in the token's smallest unit. */
export interface InboundLimits {
  /** UTC day of `used`, in whole days since the epoch. */
  readonly day: number
  readonly used: bigint
  /** The fund's balance divided by the risk denominator. `used` must stay below the cap. */
  readonly cap: bigint
  readonly paused: boolean
  readonly mayComplete: boolean
}

const daySeconds = 86_400

/**
 * Decides whether the bridge can complete a transfer now. A paused contract still completes transfers, but its
 * operators want completions to stop too, so the gate closes.
 * @param reserved amounts of other transfers that the contract does not count yet
 */
export function gateOf(limits: InboundLimits, amount: bigint, now: number, reserved = 0n): Gate {
  const { cap, paused, mayComplete } = limits
  if (!mayComplete) return { kind: 'lane', code: 'BRIDGE_ROLE_MISSING', reason: 'the key of this lane must be granted RELAYER_ROLE' }
  if (paused) return { kind: 'route', code: 'BRIDGE_PAUSED', reason: 'the native bridge is paused' }
  if (cap <= 1n) return { kind: 'route', code: 'BRIDGE_BUDGET', reason: 'the insurance fund is empty, so no transfer can complete' }
  if (amount >= cap) return { kind: 'transfer', code: 'BRIDGE_CAP', reason: `the amount ${amount} is not below the daily cap ${cap}` }
  const used = usedAt(limits, now)
  if (used + reserved + amount < cap) return { kind: 'open' }
  const opensAt = (Math.floor(now / daySeconds) + 1) * daySeconds
  const renewal = new Date(opensAt * 1_000).toISOString().replace('.000Z', 'Z')
  const underway = reserved > 0n ? `, ${reserved} is on its way` : ''
  const reason = `${used} of ${cap} is used today${underway}, and ${amount} does not fit below; the budget renews at ${renewal}`
  return { kind: 'route', code: 'BRIDGE_BUDGET', reason, opensAt }
}

export function fitting<T extends { amount: bigint }>(limits: InboundLimits, transfers: readonly T[], now: number, reserved = 0n): T[] {
  let used = usedAt(limits, now) + reserved
  return transfers.filter(({ amount }) => {
    const fits = used + amount < limits.cap
    if (fits) used += amount
    return fits
  })
}

function usedAt({ day, used }: InboundLimits, now: number): bigint {
  return Math.floor(now / daySeconds) > day ? 0n : used
}

export interface LimitsChain extends ContractReader, HeadSource {
  readonly nodes?: Chain['nodes']
}

export interface ReadLimits extends InboundLimits {
  /** Height of the head when the read began. Completions in later blocks may be missing. */
  readonly height: number
}

const relayerRole = id('RELAYER_ROLE')

/** Reads the limits once per block, and the role once per block and account. Throws the errors of `read`. */
export function createInboundLimits(chain: LimitsChain, bridge: string) {
  const reads = createReads(chain, bridge)
  const shared = oncePerHead(chain, () => reads.shared('latest'))
  const sharedByMost = oncePerHead(chain, () => unlessDisagreed(reads.shared('agreed-latest')))
  const roles = oncePerHead(chain, (relayer) => reads.mayComplete(relayer, 'latest'))
  const rolesByMost = oncePerHead(chain, (relayer) => unlessDisagreed(reads.mayComplete(relayer, 'agreed-latest')))
  let last: ReadLimits | undefined
  let started = 0
  let lastStarted = 0

  function keep(limits: ReadLimits, turn: number): ReadLimits {
    if (turn > lastStarted) [last, lastStarted] = [limits, turn]
    return limits
  }

  return {
    /**
     * Limits and role may come from two blocks. This is harmless, because the gate only prevents attempts that would
     * fail.
     */
    async read(relayer: string): Promise<ReadLimits> {
      const turn = ++started
      const [limits, mayComplete] = await Promise.all([shared(), roles(relayer)])
      return keep({ ...limits, mayComplete }, turn)
    },
    async byMost(relayer: string): Promise<ReadLimits | undefined> {
      if (!hasSeveral(chain)) return undefined
      const turn = ++started
      const [limits, mayComplete] = await Promise.all([sharedByMost(), rolesByMost(relayer)])
      return limits && mayComplete !== undefined ? keep({ ...limits, mayComplete }, turn) : undefined
    },
    async mayComplete(relayer: string): Promise<boolean> {
      const may = await roles(relayer)
      return may || !hasSeveral(chain) ? may : ((await rolesByMost(relayer)) ?? may)
    },
    /** Reads the cap from most nodes, because a transfer above the cap is parked. Throws NODES_DISAGREE. */
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

/** Reads the token once, from most nodes, because the contract cannot change its token, only its fund. */
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
    async shared(at: At): Promise<Omit<ReadLimits, 'mayComplete'>> {
      const { height } = currentHead(chain).latest
      const { token, fund: likely } = (known ??= await learn())
      const day = Math.floor(chainTime(chain) / daySeconds)
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
      // Reads the balance of a changed fund only once, because a lying node could name a new fund each time.
      const held = fund === likely ? balance : await balanceOf(fund)
      return { day, used, cap: denominator === 0n ? 0n : held / denominator, paused, height }
    },
  }
}

function hasSeveral({ nodes }: LimitsChain): boolean {
  return votersOf(nodes?.() ?? []).length > 1
}
