import { chanceOf } from '../faults/random.ts'
import { schedule } from '../faults/schedule.ts'

export const temporalKinds = [
  'forged-operator-transaction',
  'forged-batch',
  'forged-transfer',
  'forged-step',
  'forged-existing',
  'forged-fees',
  'forged-mismatch',
  'forged-messages',
  'moved-coins',
  'wipe',
] as const
export const apiKinds = [
  'api-without-token',
  'api-forged-token',
  'api-foreign-host',
  'api-junk',
  'api-weak-token',
  'api-revoked-token',
  'api-slow',
  'api-flood',
] as const
export const nodeKinds = [
  ...(['prices', 'heads', 'nonces', 'gas-high', 'gas-low', 'calls', 'malformed', 'flood', 'redirect'] as const),
  ...(['guardians', 'long-reverts'] as const),
] as const
/** Attacks by somebody who stole an operator's token. */
const addedNodeKinds = ['added-nodes'] as const
/** Attacks by somebody with access to the spy or its gossip network. */
export const spyKinds = ['spy-junk', 'spy-wrong-guardian', 'spy-one-guardian', 'spy-foreign-emitter', 'spy-malformed'] as const
/** Attacks by users who only send transfers. */
export const userKinds = ['dust', 'no-such-token', 'gas-burner', 'two-faced', 'look-alike', 'executor-requests'] as const
export const operatorKinds = ['cancel', 'payment'] as const
/**
 * The last attack of a run, made once, after the last honest transfer: prices rise, and lanes pay until their keys
 * refuse.
 */
export const lastKind = 'overspend'
const plannedKinds = [...temporalKinds, ...apiKinds, ...nodeKinds, ...addedNodeKinds, ...spyKinds, ...userKinds, ...operatorKinds] as const
export const attackKinds = [...plannedKinds, lastKind] as const

export type NodeKind = (typeof nodeKinds)[number]
export type PlannedKind = (typeof plannedKinds)[number]
export type AttackKind = (typeof attackKinds)[number]

export interface PlannedAttack<K extends PlannedKind = PlannedKind> {
  /** ms since the start of the run. */
  readonly atMs: number
  readonly kind: K
  readonly chain: 'ethereum' | 'bsc'
  readonly forMs: number
  /** Random number in [0, 1) that decides all other choices of this attack. */
  readonly dice: number
}

export interface AttackPlanInput {
  readonly seed: string
  readonly durationMs: number
  readonly kinds: readonly AttackKind[]
}

/** Plans the attacks of a run, sorted by time. Pure. */
export function planAttacks({ seed, durationMs, kinds }: AttackPlanInput): PlannedAttack[] {
  const chance = chanceOf(seed)
  const planned = kinds.filter((kind) => kind !== lastKind)
  const meanPauseMs = durationMs / (1.3 * Math.max(1, planned.length))
  const pauseMs = [Math.ceil(meanPauseMs / 3), Math.ceil((meanPauseMs * 5) / 3)] as const
  return schedule(chance, { kinds: planned, durationMs, firstMs: [200, 600], pauseMs }, (atMs, kind): PlannedAttack => {
    const chain = chance.pick(['ethereum', 'bsc'] as const)
    return { atMs, kind, chain, forMs: chance.whole(1500, 5000), dice: chance.next() }
  })
}
