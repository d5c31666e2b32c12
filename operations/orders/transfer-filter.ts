import { z } from 'zod'
import { bridgeNames, chainOf, lanesOf } from '../../config/chains.ts'
import type { Config } from '../../config/schema/schema.ts'
import { laneAddress } from '../../domain/lane/lane.ts'
import { type ChainName, numberOfUnconfigured, transferStates } from '../../domain/transfer/transfer.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { lanesOfFilter } from '../../temporal/client/lanes/lanes.ts'
import { transfersOfNonce } from '../../temporal/client/lanes/nonce-lookup.ts'
import type { TransferFilter } from '../../temporal/client/transfers/transfer-list.ts'
import { field, type Given, invalid } from './spec.ts'
import { findLane } from './subjects.ts'
import { countSchema, oneOf, optional, values } from './values.ts'

const states = z.enum(transferStates)
export const filterFields = {
  state: field(
    '--state <state>',
    {
      ...{ kind: 'choice', choices: transferStates, repeats: true },
      schema: z
        .union([states, z.array(states).min(1)])
        .transform((given) => [given].flat())
        .optional(),
    },
    'only transfers in this state (may be repeated)',
  ),
  execution: field(
    '--execution <kind>',
    optional(oneOf(['open', 'closed', 'undone'])),
    'only open transfers, closed transfers, or transfers that were closed without an outcome (undone)',
  ),
  undone: field(
    '--undone',
    optional({ kind: 'flag', schema: z.stringbool().or(z.boolean()) }),
    'the same as --execution undone (terminated, failed)',
  ),
  code: field(
    '--code <code>',
    optional(values.code),
    'only transfers that wait, are parked or were refused with this code (docs/reference/errors.md)',
  ),
  bridge: field('--bridge <name>', optional(values.chainName), 'only transfers over this bridge'),
  chain: field('--chain <name>', optional(values.chainName), 'only transfers from or to this chain'),
  sourceChain: field('--source <chain>', optional(values.chainName), 'only transfers from this chain'),
  targetChain: field('--target <chain>', optional(values.chainName), 'only transfers to this chain'),
  lane: field('--lane <lane>', optional({ ...values.lane, kind: 'text' }), 'only transfers of this lane, by id or address'),
  sender: field('--sender <address>', optional(values.address), 'only transfers of the lanes with this address, on any chain'),
  nonce: field(
    '--nonce <number>',
    optional({ kind: 'number', schema: countSchema(0, Number.MAX_SAFE_INTEGER) }),
    'only transfers with this nonce; needs the lane',
  ),
  txHash: field(
    '--tx <hash>',
    optional(values.hash),
    'only transfers that this transaction delivered, alone or in a batch; the transaction must be in a block',
  ),
  startedBefore: field(
    '--started-before <time>',
    optional(values.time),
    'only transfers that began before this time: 2026-11-22T17:00:00Z',
  ),
  startedAfter: field('--started-after <time>', optional(values.time), 'only transfers that began after this time'),
  olderThan: field('--older-than <age>', optional(values.age), 'only transfers that began longer ago than this: 90s, 15m, 3h, 2d'),
  newerThan: field('--newer-than <age>', optional(values.age), 'only transfers that began within the last 90s, 15m, 3h, 2d'),
  youngerThan: field('--younger-than <age>', optional(values.age), 'the same as --newer-than'),
  blocked: field('--blocked <age>', optional(values.age), 'only transfers that have been open for longer than this time'),
}

export type TransferSelection = Partial<Given<typeof filterFields>>

export function isNarrowed(given: TransferSelection): boolean {
  return Object.keys(filterFields).some((name) => given[name as keyof TransferSelection] !== undefined)
}

interface FilterSetting {
  readonly client: TemporalClient
  readonly config: Pick<Config, 'chains' | 'bridges'>
  readonly mined: (chain: ChainName, address: string, nonce: number) => Promise<string | undefined>
}

/** Throws INPUT_INVALID, LANE_NOT_FOUND, LANE_UNREACHABLE, NODE_UNAVAILABLE, TEMPORAL_UNAVAILABLE. */
export async function toFilter({ client, config, mined }: FilterSetting, given: TransferSelection): Promise<TransferFilter> {
  const { state, execution, undone, code, bridge, chain, sourceChain, targetChain, sender, nonce, txHash, blocked, olderThan } = given
  if (nonce !== undefined && given.lane === undefined) throw invalid('nonce: it is one of a lane: give the lane, too')
  // Of a nonce and a hash, only the nonce would count, so the order would concern more transfers than intended.
  if (nonce !== undefined && txHash !== undefined)
    throw invalid('give either a nonce or a transaction: a nonce is looked up by its transaction')
  if (undone && blocked !== undefined) throw invalid('give either undone or blocked: closed transfers are not blocked')
  for (const name of [chain, sourceChain, targetChain])
    if (name !== undefined && numberOfUnconfigured(name) === undefined) chainOf(config, name)
  const bridges = bridgeNames(config.bridges)
  if (bridge !== undefined && !bridges.includes(bridge)) throw invalid(`no bridge is called ${bridge}; there are: ${bridges.join(', ')}`)
  const configured = lanesOf(config)
  const id = given.lane === undefined ? undefined : await findLane(client, config, given.lane, targetChain ?? chain)
  const now = Date.now()
  const ago = (age: number | undefined) => (age === undefined ? undefined : now - age)
  const before = [ago(blocked), ago(olderThan), given.startedBefore].filter((at) => at !== undefined)
  const after = [ago(given.newerThan), ago(given.youngerThan), given.startedAfter].filter((at) => at !== undefined)
  const ofLane = configured.find((one) => one.id === id)?.chain
  const hashOf = async () =>
    ofLane === undefined || id === undefined || nonce === undefined ? undefined : mined(ofLane, laneAddress(id), nonce)
  return {
    ...{ states: state, code, bridge, chain, sourceChain, targetChain, txHash },
    execution: undone ? 'undone' : blocked === undefined ? execution : 'open',
    lanes: await lanesOfFilter(
      client,
      configured.map((one) => one.id),
      { lane: id, sender },
    ),
    startedBefore: before.length > 0 ? Math.min(...before) : undefined,
    startedAfter: after.length > 0 ? Math.max(...after) : undefined,
    ...(nonce !== undefined && id !== undefined && (await transfersOfNonce(client, id, nonce, hashOf))),
  }
}
