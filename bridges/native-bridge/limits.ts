import { id } from 'ethers'
import type { Heads } from '../../chains/port.ts'
import { RelayerError } from '../../domain/errors.ts'
import { type ContractReader, read, tokenAbi } from './contracts.ts'
import type { InboundLimits } from './gates.ts'

/** What reads of the limits need of the target chain. */
export type LimitsChain = ContractReader & { readonly heads: Pick<Heads, 'current'> }

/** The limits of one target contract. */
export interface Limits {
  /**
   * All of them as of the latest block, for one relayer's account: six reads of one tick, one more tick at first and after a change of the fund.
   * They may be of two neighbouring blocks: a gate only spares tries, the simulation decides. Throws what `read` throws.
   */
  read(relayer: string): Promise<InboundLimits>
  /** As they were last read, for whichever account; undefined before. */
  readonly last: InboundLimits | undefined
}

const relayerRole = id('RELAYER_ROLE')
const daySeconds = 86_400

/** Who holds which token: the token has no setter, the fund has one. */
interface Known {
  readonly token: string
  readonly fund: string
}

export function createLimits(chain: LimitsChain, bridge: string): Limits {
  let known: Known | undefined
  let last: InboundLimits | undefined

  async function one<T>(method: string, args: readonly unknown[] = []): Promise<T> {
    return (await read(chain, bridge, method, args))[0] as T
  }

  async function learn(): Promise<Known> {
    const [token, fund] = await Promise.all([one<string>('token'), one<string>('insuranceFund')])
    return { token, fund }
  }

  async function readAll(relayer: string, holders: Known): Promise<InboundLimits> {
    const day = Math.floor(secondsOf(chain) / daySeconds)
    const [fund, denominator, used, paused, mayComplete, [balance]] = await Promise.all([
      one<string>('insuranceFund'),
      one<bigint>('riskDenominator'),
      one<bigint>('inboundRateLimitBudget', [day]),
      one<boolean>('paused'),
      one<boolean>('hasRole', [relayerRole, relayer]),
      read(chain, holders.token, 'balanceOf', [holders.fund], 'latest', tokenAbi),
    ])
    if (fund !== holders.fund) {
      known = { ...holders, fund }
      return readAll(relayer, known)
    }
    // The contract divides by it: one that was never initialised has 0 there, and lets nothing in.
    const cap = denominator === 0n ? 0n : (balance as bigint) / denominator
    return { day, used, cap, paused, mayComplete }
  }

  return {
    async read(relayer) {
      known ??= await learn()
      last = await readAll(relayer, known)
      return last
    },
    get last() {
      return last
    },
  }
}

/** Time of the latest block, seconds since the epoch: what the contract's day is cut from. Throws NODE_UNAVAILABLE before the first block. */
export function secondsOf(chain: Pick<LimitsChain, 'name' | 'heads'>): number {
  const latest = chain.heads.current?.latest
  if (!latest) throw new RelayerError('NODE_UNAVAILABLE', { detail: 'No block was read yet.', facts: { chain: chain.name } })
  return latest.timestamp
}
