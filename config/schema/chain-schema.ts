import { z } from 'zod'
import { feePolicySchema, laneSchema, signingLimitsSchema } from './lane-schema.ts'
import { address, linkUrl, milliseconds, name, selector, url, whole } from '../load/values.ts'

const finalitySchema = z.discriminatedUnion('kind', [
  z
    .strictObject({
      kind: z.literal('tag'),
      stalledAfterMinutes: z
        .number()
        .min(0.1)
        .max(1_440)
        .optional()
        .describe(
          'Age of the newest final block, compared with the head, that is reported as the cause `FINALITY_STALLED`. Absent: 60, since some chains need half an hour.',
        ),
    })
    .describe('Nodes tag the finalized block.'),
  z
    .strictObject({ kind: z.literal('depth'), blocks: whole(1).max(10_000) })
    .describe('A block is final when it is this many blocks below the head.'),
  z.strictObject({ kind: z.literal('instant') }).describe('A block is final at once.'),
])

const nodeSchema = z.strictObject({
  url: url.describe('JSON-RPC over HTTP. Its secrets never appear in logs.'),
  name: name.optional().describe('Name in commands and metrics. Absent: node-1, node-2… by place in this list.'),
  use: z
    .enum(['all', 'read', 'send', 'private'])
    .default('all')
    .describe(
      'all: reads and sends. read: never sends. send: broadcasts only. private: sends that the public pool must not see (MEV protection).',
    ),
  requestsPerSecond: z.number().min(0.1).max(100_000).optional().describe('Most calls per second. Absent: no limit.'),
})

/** The classes of SendErrorClass (chains/port.ts). */
const sendErrorSchema = z.enum([
  'nonce-too-low',
  'already-known',
  'own-nonce-used',
  'replacement-underpriced',
  'underpriced',
  'nonce-too-high',
  'pool-limit',
  'insufficient-funds',
  'fee-cap',
  'fatal',
  'terminally-stuck',
  'ambiguous',
])

export const chainSchema = z.strictObject({
  family: z.literal('evm').describe('The kind of chain.'),
  networkId: whole(1).describe('EIP-155 chain id. Every node is checked for it.'),
  wormholeChainId: whole(1).max(65_535).optional().describe("Wormhole chain id (2 is Ethereum). Wormhole's bridge needs it."),
  nodes: z.array(nodeSchema).min(1).describe('Nodes of the chain. At least one must read.'),
  explorer: linkUrl
    .optional()
    .describe("Base URL of a block explorer, for links on the page (tx/<hash> is appended). Absent: the one in Wormhole's SDK, if any."),
  coin: z
    .string()
    .regex(/^(?!(wei|gwei|ether|coins?)$)[a-z]{1,10}$/i, 'must be a symbol of up to ten letters, like ETH, and no unit')
    .optional()
    .describe(
      'Symbol of the coin that pays gas, for amounts shown and typed. Absent: the known symbol of the network, else "native coins".',
    ),
  urlVariables: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/))
    .max(100)
    .prefault([])
    .describe(
      'Environment variables that URLs of nodes added at runtime may use. Their values are sent to the host that the URL names: list only URLs and keys of nodes.',
    ),
  send: z
    .enum(['public', 'private'])
    .default('public')
    .describe('public: transactions go to nodes with use all or send. private: only to nodes with use private.'),
  errors: z
    .partialRecord(sendErrorSchema, z.array(z.string().min(3)))
    .optional()
    .describe(
      "Class of error → texts of this chain's nodes that mean it. A text matches anywhere in the message, in any case, before the built-in texts.",
    ),
  feeModel: z
    .enum(['ethereum', 'op-stack', 'arbitrum'])
    .default('ethereum')
    .describe(
      'ethereum: base fee and tip, or legacy gas price. op-stack: also the L1 data fee of its oracle. arbitrum: a higher fee replaces nothing, so transactions are only resent.',
    ),
  feeHistory: z
    .strictObject({
      blocks: whole(1).max(1024).default(4).describe('Blocks of eth_feeHistory (chainlink-evm: 4 for Ethereum, 24 for OP chains).'),
      percentile: z.number().min(1).max(99).default(50).describe('Percentile of the tips in a block (chainlink-evm: 50 to 60).'),
    })
    .prefault({})
    .describe('How the market price is read.'),
  fees: feePolicySchema.optional().describe('Fee limits of this chain.'),
  callFees: z
    .record(address, z.record(z.union([selector, z.literal('*')]), feePolicySchema))
    .prefault({})
    .describe('Contract → selector (or * for all) → fee limits of calls to it.'),
  treasury: z
    .strictObject({
      address: address.describe('Receives earned fees and spare coins (portage lane sweep).'),
      tokens: z.array(address).prefault([]).describe('ERC-20 tokens that are swept in addition to the coin.'),
    })
    .optional()
    .describe('The account that a sweep pays.'),
  finality: finalitySchema.default({ kind: 'tag' }).describe('When a block can no longer leave the chain.'),
  blockTimeMs: milliseconds(50, 3_600_000).describe(
    'Expected time between blocks. It also sets how often the head is polled (at least every 4 s).',
  ),
  contracts: z
    .strictObject({
      core: address.describe('Wormhole core contract: guardian sets and published messages.'),
      tokenBridge: address.describe('Wormhole token bridge contract.'),
    })
    .optional()
    .describe("Wormhole contracts of this chain. Wormhole's bridge needs them."),
  bumpAfterBlocks: whole(1)
    .max(10_000)
    .default(3)
    .describe('The transaction of the lowest nonce is replaced with a higher fee if it is not mined after this many blocks.'),
  signing: signingLimitsSchema,
  lanes: z.array(laneSchema).prefault([]).describe('Keys that deliver on this chain. Without one, transfers to it wait.'),
})
