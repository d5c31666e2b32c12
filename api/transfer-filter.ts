import { z } from 'zod'
import { lanesOf } from '../config/chains.ts'
import { agePattern, parseAge } from '../domain/text/age.ts'
import { RelayerError } from '../domain/catalogue/errors.ts'
import { laneAddress } from '../domain/lane/lane-id.ts'
import { transferStates } from '../domain/transfer/transfer.ts'
import { lanesOfFilter } from '../temporal/client/lanes/lanes.ts'
import { transfersOfNonce } from '../temporal/client/lanes/nonce-owner.ts'
import type { TransferFilter } from '../temporal/client/transfers/transfer-list.ts'
import type { ApiDeps } from './deps.ts'
import { createReadGates, type ReadFor } from './read-gate.ts'

/** The block of a nonce is looked for at the nodes, by halves: more reads than for anything else that a filter names. */
const nonceGates = createReadGates({ atOnce: 2, waiting: 16 })

const name = z.string().regex(/^[a-z][a-z0-9-]{0,30}$/, 'must be a name: lower case letters, digits and dashes')
const time = z.iso.datetime({ offset: true })
const state = z.enum(transferStates)
const age = z.string().regex(agePattern, 'must be a number with s, m, h or d, like 90s or 2h')

/** The id of a lane, in any case of its letters. */
export const laneIdSchema = z
  .string()
  .regex(/^[a-z]+-[0-9]{1,20}:0x[0-9a-fA-F]{40}$/, 'must be the id of a lane, like evm-1:0x…')
  .transform((lane) => lane.toLowerCase())

/** By what transfers are selected, in a query and in a body. */
export const filterFields = {
  state: z
    .union([state, z.array(state).min(1)])
    .optional()
    .describe('Any of these. Open states are of transfers that run, outcomes of those that ended so.'),
  execution: z.enum(['open', 'closed', 'undone']).optional().describe('undone: closed without an outcome.'),
  code: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]{1,60}$/, 'must be a code of docs/reference/errors.md')
    .optional()
    .describe('Why it waits, is parked, or was refused.'),
  bridge: name.optional(),
  chain: name.optional().describe('Source or target.'),
  sourceChain: name.optional(),
  targetChain: name.optional(),
  lane: laneIdSchema.optional(),
  sender: z
    .string()
    .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address')
    .optional()
    .describe('Address of the key that delivers, on whatever chain.'),
  nonce: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional().describe('Of the lane, which has to be given, too.'),
  txHash: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/, 'must be the hash of a transaction')
    .optional()
    .describe('Of the delivering transaction, once it is in a block.'),
  startedBefore: time.optional(),
  startedAfter: time.optional(),
  olderThan: age.optional().describe('Began longer ago: 90s, 15m, 2h, 3d.'),
  youngerThan: age.optional(),
}

const filterSchema = z.object(filterFields)
type GivenFilter = z.output<typeof filterSchema>

/** What a request asks for, as Temporal is asked. Throws INPUT_INVALID (a nonce without its lane, or with a transaction), LANE_NOT_FOUND, LANE_UNREACHABLE, TEMPORAL_UNAVAILABLE. */
export async function toFilter({ client, config, network }: ApiDeps, given: GivenFilter, readFor: ReadFor): Promise<TransferFilter> {
  const { state: states, lane, sender, nonce, startedBefore, startedAfter, olderThan, youngerThan, txHash, ...same } = given
  if (nonce !== undefined && lane === undefined) {
    throw new RelayerError('INPUT_INVALID', { detail: 'nonce: it is one of a lane: give `lane`, too' })
  }
  // A nonce is looked up by its transaction: the other one would go unheard, and an order reach what it does not name.
  if (nonce !== undefined && txHash !== undefined) throw new RelayerError('INPUT_INVALID', { detail: 'give either `nonce` or `txHash`' })
  const configured = lanesOf(config)
  const ids = configured.map(({ id }) => id)
  const lanes = await lanesOfFilter(client, ids, { lane, sender: sender?.toLowerCase() })
  const chain = configured.find(({ id }) => id === lane)?.chain
  const mined = () =>
    nonceGates[readFor](async () => (await network.chains.get(chain ?? '')?.mined(laneAddress(lane ?? ''), nonce ?? 0))?.hash)
  return {
    ...same,
    ...(states !== undefined && { states: [states].flat() }),
    ...(lanes && { lanes }),
    ...(txHash !== undefined && { txHash: txHash.toLowerCase() }),
    startedBefore: least(atOf(startedBefore), agoOf(olderThan)),
    startedAfter: most(atOf(startedAfter), agoOf(youngerThan)),
    ...(nonce !== undefined && lane !== undefined && (await transfersOfNonce(client, lane, nonce, mined))),
  }
}

function atOf(iso: string | undefined): number | undefined {
  return iso === undefined ? undefined : Date.parse(iso)
}

function agoOf(text: string | undefined): number | undefined {
  const age = text === undefined ? undefined : parseAge(text)
  return age === undefined ? undefined : Date.now() - age
}

function least(...times: readonly (number | undefined)[]): number | undefined {
  const given = times.filter((one) => one !== undefined)
  return given.length === 0 ? undefined : Math.min(...given)
}

function most(...times: readonly (number | undefined)[]): number | undefined {
  const given = times.filter((one) => one !== undefined)
  return given.length === 0 ? undefined : Math.max(...given)
}
