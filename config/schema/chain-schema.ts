import { z } from 'zod'
import { feePolicySchema, laneSchema, signingLimitsSchema } from './lane-schema.ts'
import { address, linkUrl, milliseconds, name, selector, url, whole } from '../load/values.ts'

const finalitySchema = z.discriminatedUnion('kind', [
  z
    .strictObject({
      kind: z.literal('tag'),
      standsAfterMinutes: z
        .number()
        .min(0.1)
        .max(1_440)
        .optional()
        .describe(
          'A newest final block that is so much older than the head is told as a cause, `FINALITY_STALLED` (absent: 60, since some chains need half an hour). It changes nothing else.',
        ),
    })
    .describe('The node tags the finalized block.'),
  z.strictObject({ kind: z.literal('depth'), blocks: whole(1).max(10_000) }).describe('Final that many blocks below the head.'),
  z.strictObject({ kind: z.literal('instant') }).describe('A block is final at once.'),
])

const nodeSchema = z.strictObject({
  url: url.describe('JSON-RPC over HTTP. Keys in it never appear in logs.'),
  name: name.optional().describe('For commands and metrics; absent: node-1, node-2… in the order of this list.'),
  use: z
    .enum(['all', 'read', 'send', 'private'])
    .default('all')
    .describe(
      'all: reads and sends; read: never sends; send: broadcast only; private: sends that the public pool must not see (MEV-protected).',
    ),
  requestsPerSecond: z.number().min(0.1).max(100_000).optional().describe('Most calls per second; absent: no limit of ours.'),
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

/** One chain: how it is read and written, and the keys that deliver on it. */
export const chainSchema = z.strictObject({
  family: z.literal('evm').describe('The kind of chain, which decides how it is read and written.'),
  networkId: whole(1).describe('EIP-155 chain id; checked against every node.'),
  wormholeChainId: whole(1).max(65_535).optional().describe("Wormhole's number of the chain (2 is Ethereum). Wormhole's bridge needs it."),
  nodes: z.array(nodeSchema).min(1).describe('The nodes of the chain, at least one that reads.'),
  explorer: linkUrl
    .optional()
    .describe(
      "Base URL of a block explorer, for links of the page: tx/<hash> is added. Absent: that of Wormhole's SDK for this network, if it has one.",
    ),
  coin: z
    .string()
    .regex(/^(?!(wei|gwei|ether|coins?)$)[a-z]{1,10}$/i, 'must be a symbol of up to ten letters, like ETH, and no unit')
    .optional()
    .describe(
      'Symbol of the coin that pays gas on this chain, with which amounts are shown and typed. Absent: that of a network that Portage knows, else "native coins".',
    ),
  urlVariables: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/))
    .max(100)
    .prefault([])
    .describe(
      'Environment variables that the URLs of nodes may name which are added while the workers run. Their values go to whatever host such a URL names: list nothing but URLs and keys of nodes.',
    ),
  send: z
    .enum(['public', 'private'])
    .default('public')
    .describe('public: to every node with use all or send. private: only to those with use private.'),
  errors: z
    .partialRecord(sendErrorSchema, z.array(z.string().min(3)))
    .optional()
    .describe(
      "Class of error → texts of this chain's nodes that mean it. A text may stand anywhere in the message, in upper or lower case; it goes before the built-in ones.",
    ),
  feeModel: z
    .enum(['ethereum', 'op-stack', 'arbitrum'])
    .default('ethereum')
    .describe(
      'ethereum: base fee and tip, or legacy gas price. op-stack: also the L1 data fee of its oracle. arbitrum: a higher fee replaces nothing; resent only.',
    ),
  feeHistory: z
    .strictObject({
      blocks: whole(1).max(1024).default(4).describe('Blocks of eth_feeHistory (chainlink-evm: 4 for Ethereum, 24 for OP chains).'),
      percentile: z.number().min(1).max(99).default(50).describe('Percentile of the tips in a block (chainlink-evm: 50 to 60).'),
    })
    .prefault({})
    .describe('How the market price is read.'),
  fees: feePolicySchema.optional().describe('Limits of this chain.'),
  callFees: z
    .record(address, z.record(z.union([selector, z.literal('*')]), feePolicySchema))
    .prefault({})
    .describe('Contract → selector (or * for all) → limits of calls to it.'),
  treasury: z
    .strictObject({
      address: address.describe('Where earned fees and spare coins go: portage lane sweep.'),
      tokens: z.array(address).prefault([]).describe('ERC-20 tokens that are swept, besides the coin.'),
    })
    .optional()
    .describe('The account that a sweep pays.'),
  finality: finalitySchema.default({ kind: 'tag' }).describe('When a block can no longer leave the chain.'),
  blockTimeMs: milliseconds(50, 3_600_000).describe(
    'Expected time between blocks; also how often the head is asked for (at least every 4 s).',
  ),
  contracts: z
    .strictObject({
      core: address.describe('The Wormhole core contract: guardian sets and published messages.'),
      tokenBridge: address.describe('The Wormhole token bridge contract.'),
    })
    .optional()
    .describe("The Wormhole contracts of this chain. Wormhole's bridge needs them."),
  bumpAfterBlocks: whole(1)
    .max(10_000)
    .default(3)
    .describe('A transaction at the lowest nonce that is not mined after this many blocks is replaced with a higher fee.'),
  signing: signingLimitsSchema,
  lanes: z.array(laneSchema).prefault([]).describe('The keys that deliver on this chain. Without one, transfers to it wait.'),
})
