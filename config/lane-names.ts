import type { OrderSubject } from '../domain/access/access.ts'
import { RelayerError } from '../domain/errors.ts'
import type { LaneId } from '../domain/lane/lane-id.ts'
import { lanesOf } from './chains.ts'
import type { Config } from './schema.ts'

/** The lane that a person names: by its id, or by the address of a configured lane (of the chain `chain`, if several have it). Throws LANE_NOT_FOUND. */
export function resolveLane(config: Pick<Config, 'chains'>, name: string, chain?: string): LaneId {
  if (/^[a-z]+-[0-9]+:0x[0-9a-f]{40}$/i.test(name)) return name.toLowerCase()
  const named = lanesOf(config).filter(({ lane }) => lane.address === name.toLowerCase())
  const [one, ...more] = named.filter((row) => chain === undefined || row.chain === chain)
  if (one && more.length === 0) return one.id
  const detail = one && `Several chains have this lane: ${[one, ...more].map(({ id }) => id).join(', ')}.`
  throw new RelayerError('LANE_NOT_FOUND', { detail, facts: { lane: name, chain } })
}

/** What an order about a lane is about: the lane, and its chain if the config has it. */
export function aboutLane(config: Pick<Config, 'chains'>, lane: LaneId): OrderSubject {
  const chain = lanesOf(config).find(({ id }) => id === lane)?.chain
  return { lane, chains: chain === undefined ? undefined : [chain] }
}
