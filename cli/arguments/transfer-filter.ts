import { type Command, InvalidArgumentError, Option } from 'commander'
import { chainOf, lanesOf } from '../../config/chains.ts'
import type { Config } from '../../config/schema/schema.ts'
import { parseAge } from '../../domain/text/age.ts'
import { laneAddress, type LaneId } from '../../domain/lane/lane-id.ts'
import { transferStates, type TransferState } from '../../domain/transfer/transfer.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { lanesOfFilter } from '../../temporal/client/lanes/lanes.ts'
import { transfersOfNonce } from '../../temporal/client/lanes/nonce-owner.ts'
import type { TransferFilter } from '../../temporal/client/transfers/transfer-list.ts'
import { withChain } from './chains.ts'
import { findLane } from './lanes.ts'
import { invalid, matching, parse } from './options.ts'

/** By what transfers are selected on a command line; every option narrows the selection. */
export interface FilterOptions {
  readonly state?: readonly TransferState[]
  readonly undone?: true
  readonly code?: string
  readonly bridge?: string
  readonly chain?: string
  readonly source?: string
  readonly target?: string
  readonly lane?: string
  readonly sender?: string
  readonly nonce?: number
  readonly tx?: string
  /** ms, as the next two. */
  readonly olderThan?: number
  readonly newerThan?: number
  readonly blocked?: number
}

export function withFilter(command: Command): Command {
  const states = new Option('--state <state>', 'only transfers in this state (may be repeated)').choices(transferStates).argParser(anyState)
  return command
    .addOption(states)
    .option('--undone', 'only those that were closed without an outcome (terminated, failed)')
    .option('--code <code>', 'only those with this code (docs/reference/errors.md): why they wait, are parked or were refused', codeOf)
    .option('--bridge <name>', 'only over this bridge', parse.chainName)
    .option('--chain <name>', 'only transfers from or to this chain', parse.chainName)
    .option('--source <chain>', 'only from this chain', parse.chainName)
    .option('--target <chain>', 'only to this chain', parse.chainName)
    .option('--lane <lane>', 'only of this lane, by id or address')
    .option('--sender <address>', 'only of the lanes with this address, on whatever chain', parse.address)
    .option('--nonce <number>', 'only of this nonce of --lane', parse.number)
    .option('--tx <hash>', 'only what this transaction delivers, alone or in a batch, once it is in a block', parse.hash)
    .option('--older-than <age>', 'only what began longer ago: 90s, 15m, 3h, 2d', ageOf)
    .option('--newer-than <age>', 'only what began since', ageOf)
    .option('--blocked <age>', 'only what is open for longer than this', ageOf)
}

/** Whether anything narrows the selection. */
export function selects(options: FilterOptions): boolean {
  const { state, undone, code, bridge, chain, source, target, lane, sender, nonce, tx, olderThan, newerThan, blocked } = options
  return [state, undone, code, bridge, chain, source, target, lane, sender, nonce, tx, olderThan, newerThan, blocked].some(
    (one) => one !== undefined,
  )
}

/** What Temporal is asked for. Throws INPUT_INVALID, LANE_NOT_FOUND, LANE_UNREACHABLE, NODE_UNAVAILABLE, TEMPORAL_UNAVAILABLE. */
export async function toFilter(client: TemporalClient, config: Config, options: FilterOptions): Promise<TransferFilter> {
  const { state: states, undone, code, bridge, chain, source: sourceChain, target: targetChain, blocked, olderThan, newerThan } = options
  if (options.nonce !== undefined && options.tx !== undefined)
    throw invalid('give either --nonce or --tx: a nonce is looked up by its transaction')
  if (undone && blocked !== undefined) throw invalid('give either --undone or --blocked: what was closed is not blocked')
  const execution = undone ? ('undone' as const) : blocked === undefined ? undefined : ('open' as const)
  const lane = options.lane === undefined ? undefined : await findLane(client, config, options.lane, targetChain ?? chain)
  const ids = lanesOf(config).map(({ id }) => id)
  const ages = [blocked, olderThan].filter((age) => age !== undefined)
  return {
    ...{ states, execution, code, bridge, chain, sourceChain, targetChain, txHash: options.tx },
    lanes: await lanesOfFilter(client, ids, { lane, sender: options.sender }),
    startedBefore: ages.length === 0 ? undefined : Date.now() - Math.max(...ages),
    startedAfter: newerThan === undefined ? undefined : Date.now() - newerThan,
    ...(options.nonce !== undefined && (await ofNonce(client, config, lane, options.nonce))),
  }
}

function ofNonce(client: TemporalClient, config: Config, lane: LaneId | undefined, nonce: number): Promise<TransferFilter> {
  if (lane === undefined) throw invalid('--nonce: it is one of a lane: give --lane, too')
  const chain = lanesOf(config).find(({ id }) => id === lane)?.chain
  const mined = async () => {
    if (chain === undefined) return undefined
    chainOf(config, chain)
    return withChain(config, chain, async (reader) => (await reader.mined(laneAddress(lane), nonce))?.hash)
  }
  return transfersOfNonce(client, lane, nonce, mined)
}

function anyState(text: string, before: readonly TransferState[] | undefined): TransferState[] {
  const state = transferStates.find((one) => one === text)
  if (state) return [...(before ?? []), state]
  throw new InvalidArgumentError(`Allowed choices are ${transferStates.join(', ')}.`)
}

const isCode = matching(/^[a-z][a-z0-9_]{1,60}$/i, 'It must be a code of docs/reference/errors.md, like LANE_NONE.')

function codeOf(text: string): string {
  return isCode(text).toUpperCase()
}

/** ms. Throws InvalidArgumentError (a wrong command line). */
function ageOf(text: string): number {
  const age = parseAge(text)
  if (age !== undefined) return age
  throw new InvalidArgumentError('It must be a number with s, m, h or d: 90s, 15m, 3h, 2d.')
}
