import { chanceOf } from '../faults/random.ts'
import { schedule } from '../faults/schedule.ts'

/** Attackers with access to Temporal. */
export const temporalKinds = [
  'forged-operator-transaction',
  'forged-batch',
  'forged-transfer',
  'forged-step',
  'forged-fees',
  'forged-mismatch',
  'forged-messages',
  'wipe',
] as const
/** Attackers with access to the API, without a token or with an insufficient one. */
export const apiKinds = [
  'api-without-token',
  'api-forged-token',
  'api-foreign-host',
  'api-junk',
  'api-weak-token',
  'api-revoked-token',
  'api-slow',
] as const
/** Attackers that run one of the chain's nodes. */
export const nodeKinds = ['prices', 'heads', 'nonces', 'gas-high', 'gas-low', 'calls', 'malformed', 'flood', 'redirect'] as const
/** Attackers with access to the spy or its gossip network. */
export const spyKinds = ['spy-junk', 'spy-wrong-guardian', 'spy-malformed'] as const
/** Attackers that only send transfers. */
export const userKinds = ['dust', 'no-such-token', 'gas-burner', 'two-faced'] as const
/** No attackers: an operator who cancels transfers and pays from lanes while all that goes on. */
export const operatorKinds = ['cancel', 'payment'] as const
export const attackKinds = [...temporalKinds, ...apiKinds, ...nodeKinds, ...spyKinds, ...userKinds, ...operatorKinds] as const

export type NodeKind = (typeof nodeKinds)[number]
export type AttackKind = (typeof attackKinds)[number]

/** One attack of a run. */
export interface PlannedAttack<K extends AttackKind = AttackKind> {
  /** After the start of the run. */
  readonly atMs: number
  readonly kind: K
  readonly chain: 'ethereum' | 'bsc'
  /** The chain's one node that lies: the others are honest, as a quorum assumes. */
  readonly node: number
  readonly forMs: number
  /** 0 to below 1: whatever else is left to chance. Different in each attack of a run. */
  readonly dice: number
}

export interface AttackPlanInput {
  readonly seed: string
  readonly durationMs: number
  readonly kinds: readonly AttackKind[]
  readonly nodes: number
}

/**
 * The attacks of a run in order of time: all kinds in random order, again and again until the time is over. One node
 * per chain ever lies. Pure.
 */
export function planAttacks({ seed, durationMs, kinds, nodes }: AttackPlanInput): PlannedAttack[] {
  const chance = chanceOf(seed)
  const liars = { ethereum: chance.whole(0, nodes - 1), bsc: chance.whole(0, nodes - 1) }
  const meanPauseMs = durationMs / (1.3 * Math.max(1, kinds.length))
  const pauseMs = [Math.ceil(meanPauseMs / 3), Math.ceil((meanPauseMs * 5) / 3)] as const
  return schedule(chance, { kinds, durationMs, firstMs: [200, 600], pauseMs }, (atMs, kind): PlannedAttack => {
    const chain = chance.pick(['ethereum', 'bsc'] as const)
    return { atMs, kind, chain, node: liars[chain], forMs: chance.whole(1500, 5000), dice: chance.next() }
  })
}
