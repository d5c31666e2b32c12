import { z } from 'zod'
import { bridgeNames, chainOf, chainsOfLanes } from '../../config/chains.ts'
import type { Config } from '../../config/schema/schema.ts'
import { laneAddress } from '../../domain/lane/lane.ts'
import { type ChainName, numberOfUnconfigured, transferStates } from '../../domain/transfer/transfer.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { lanesOfFilter } from '../../temporal/client/lanes/lanes.ts'
import { transfersOfNonce } from '../../temporal/client/lanes/nonce-lookup.ts'
import type { TransferFilter } from '../../temporal/client/transfers/transfer-list.ts'
import { field, type Given, invalid, option, placeFields } from './spec.ts'
import { findLane } from './subjects.ts'
import { countSchema, oneOf, values } from './values.ts'

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
  execution: option(
    '--execution <kind>',
    oneOf(['open', 'closed', 'undone']),
    'only open transfers, closed transfers, or transfers that were closed without an outcome (undone)',
  ),
  undone: option(
    '--undone',
    { kind: 'flag', schema: z.stringbool().or(z.boolean()) },
    'only transfers that were closed without an outcome (terminated, failed)',
  ),
  code: option(
    '--code <code>',
    values.code,
    'only transfers that wait, are parked or were refused with this code (docs/reference/errors.md)',
  ),
  ...placeFields,
  lane: option('--lane <lane>', { ...values.lane, kind: 'text' }, 'only transfers of this lane, by id or address'),
  sender: option('--sender <address>', values.address, 'only transfers of the lanes with this address, on any chain'),
  nonce: option(
    '--nonce <number>',
    { kind: 'number', schema: countSchema(0, Number.MAX_SAFE_INTEGER) },
    'only transfers with this nonce of the given lane',
  ),
  txHash: option(
    '--tx <hash>',
    values.hash,
    'only transfers that this transaction delivered, alone or in a batch; the transaction must be in a block',
  ),
  startedBefore: option('--started-before <time>', values.time, 'only transfers that began before this time: 2026-11-22T17:00:00Z'),
  startedAfter: option('--started-after <time>', values.time, 'only transfers that began after this time'),
  olderThan: option('--older-than <age>', values.age, 'only transfers that began longer ago than this: 90s, 15m, 3h, 2d'),
  newerThan: option('--newer-than <age>', values.age, 'only transfers that began within the last 90s, 15m, 3h, 2d'),
  youngerThan: option('--younger-than <age>', values.age, 'another name for newer-than'),
  blocked: option('--blocked <age>', values.age, 'only transfers that have been open for longer than this time'),
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

/** Throws INPUT_INVALID, LANE_NOT_FOUND, LANE_UNREACHABLE, NODE_UNAVAILABLE and TEMPORAL_UNAVAILABLE. */
export async function toFilter({ client, config, mined }: FilterSetting, given: TransferSelection): Promise<TransferFilter> {
  const { state, execution, undone, code, bridge, chain, sourceChain, targetChain, sender, nonce, txHash, blocked, olderThan } = given
  if (nonce !== undefined && given.lane === undefined) throw invalid('nonce: a nonce belongs to a lane, so give the lane, too')
  // If both were allowed, only the nonce would count.
  if (nonce !== undefined && txHash !== undefined)
    throw invalid('give either a nonce or a transaction: a nonce is looked up by its transaction')
  if (undone && blocked !== undefined) throw invalid('give either undone or blocked: closed transfers are not blocked')
  for (const name of [chain, sourceChain, targetChain])
    if (name !== undefined && numberOfUnconfigured(name) === undefined) chainOf(config, name)
  const bridges = bridgeNames(config.bridges)
  if (bridge !== undefined && !bridges.includes(bridge)) throw invalid(`no bridge is called ${bridge}; there are: ${bridges.join(', ')}`)
  const configured = chainsOfLanes(config)
  const id = given.lane === undefined ? undefined : await findLane(client, config, given.lane, targetChain ?? chain)
  const ofNonce = async () => {
    if (nonce === undefined || id === undefined) return {}
    const ofLane = configured.get(id)
    return transfersOfNonce(client, id, nonce, async () => ofLane && mined(ofLane, laneAddress(id), nonce))
  }
  const now = Date.now()
  const ago = (age: number | undefined) => (age === undefined ? undefined : now - age)
  const before = [ago(blocked), ago(olderThan), given.startedBefore].filter((at) => at !== undefined)
  const after = [ago(given.newerThan), ago(given.youngerThan), given.startedAfter].filter((at) => at !== undefined)
  return {
    ...{ states: state, code, bridge, chain, sourceChain, targetChain, txHash },
    execution: undone ? 'undone' : blocked === undefined ? execution : 'open',
    lanes: await lanesOfFilter(client, [...configured.keys()], { lane: id, sender }),
    startedBefore: before.length > 0 ? Math.min(...before) : undefined,
    startedAfter: after.length > 0 ? Math.max(...after) : undefined,
    ...(await ofNonce()),
  }
}
