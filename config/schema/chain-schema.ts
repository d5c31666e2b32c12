import { optional, prefault, z } from 'zod'
import { sendErrorClasses } from '../../domain/lane/send-errors.ts'
import { feePolicySchema, laneSchema, signingLimitsSchema } from './lane-schema.ts'
import {
  address,
  authorization,
  between,
  decimal,
  linkUrl,
  name,
  selector,
  text,
  url,
  usually,
  variable,
  wei,
  whole,
} from '../load/values.ts'

const finalitySchema = z.discriminatedUnion('kind', [
  z
    .strictObject({
      kind: z.literal('tag'),
      stalledAfterMinutes: optional(between(0.1, 1_440)).describe(
        'Portage reports `FINALITY_STALLED` if the newest final block is older than this time. Absent: 60, because some chains need 30.',
      ),
    })
    .describe('The nodes say which block is final (the tag `finalized`).'),
  z
    .strictObject({ kind: z.literal('depth'), blocks: whole(1, 10_000) })
    .describe('A block is final when it is `blocks` blocks below the head.'),
  z.strictObject({ kind: z.literal('instant') }).describe('A block is final immediately.'),
])

const nodeSchema = z.strictObject({
  url: url.describe('JSON-RPC over HTTP. Secrets in the URL never appear in logs.'),
  authorization: optional(authorization).describe(
    'Authorization header of each request, such as `Bearer ${NODE_TOKEN}`. The header never appears in logs.',
  ),
  name: optional(name).describe('Name in commands and metrics. Absent: node-1, node-2… by position in this list.'),
  use: usually(z.enum(['all', 'read', 'send', 'private']), 'all').describe(
    'all: reads and sends. read: never sends. send: only sends. private: only sends, hidden from the public pool.',
  ),
  requestsPerSecond: optional(between(0.1, 100_000)).describe('Maximum number of calls per second. Absent: no limit.'),
})

const watchedTokenSchema = z.strictObject({
  token: address.describe('Contract of the token.'),
  symbol: optional(text(/^[\w.$-]{1,20}$/, 'must have 1 to 20 letters, digits, or . $ _ -')).describe(
    'Name of the token, for people. Absent: the address.',
  ),
  decimals: optional(whole(0, 36)).describe(
    'Decimals of the token, for people. Absent: amounts are shown in the smallest unit of the token.',
  ),
  minimum: optional(decimal).describe('Minimum balance, in the smallest unit. A lane with less is reported as `LANE_TOKEN_LOW`.'),
})

const topUpSchema = z
  .strictObject({
    from: address.describe('The lane of this chain that pays.'),
    minimum: wei.describe('Minimum balance, wei. A lane with less is topped up. The lane that pays keeps at least this balance.'),
    level: wei.describe(
      'The balance, wei, that a top-up restores. If the lane needs more than `maxPaymentWei`, the other lane pays several times.',
    ),
    maxPaymentWei: wei.describe('Maximum payment to another lane.'),
    maxPerDayWei: wei.describe('Maximum sum of payments to other lanes in a day.'),
  })
  .describe(
    'Tops up lanes automatically. Needs `signing.topUps: true`. Only the key of `from` then pays other lanes of the chain. `maxPaymentWei` and `maxPerDayWei` limit all payments to other lanes, including those that a person orders.',
  )

export const chainSchema = z.strictObject({
  family: z.literal('evm').describe('The kind of chain.'),
  networkId: whole(1).describe('EIP-155 chain id. Portage checks that every node has this id.'),
  wormholeChainId: optional(whole(1, 65_535)).describe('Wormhole chain id (2 is Ethereum). Required for all bridges of Wormhole.'),
  nodes: z.array(nodeSchema).min(1).describe('Nodes of the chain. At least one must answer reads.'),
  explorer: optional(linkUrl).describe(
    "Base URL of a block explorer, for links on the page (tx/<hash> is appended). Absent: the explorer that Wormhole's SDK knows.",
  ),
  coin: text(/^(?!(wei|gwei|ether|coins?)$)[a-z]{1,10}$/i, 'must be a symbol of up to ten letters, like ETH, and no unit')
    .optional()
    .describe('Symbol of the coin that pays gas, for amounts. Absent: the usual symbol of the network, else "native coins".'),
  urlVariables: prefault(z.array(variable).max(100), []).describe(
    'Environment variables that URLs of nodes added at runtime may contain. The values go to the host of the URL, so list only variables for nodes.',
  ),
  send: usually(z.enum(['public', 'private']), 'public').describe(
    'public: transactions go to nodes with use all or send. private: transactions go only to nodes with use private.',
  ),
  errors: optional(z.partialRecord(z.enum(sendErrorClasses), z.array(z.string().min(3)))).describe(
    "Class of error → texts that mean this class in messages of this chain's nodes. Case does not matter. These texts are compared before the built-in texts.",
  ),
  feeModel: usually(z.enum(['ethereum', 'op-stack', 'arbitrum']), 'ethereum').describe(
    'ethereum: base fee and tip, or legacy gas price. op-stack: also the L1 data fee of the gas price oracle. arbitrum: a higher fee does not replace a pending transaction, so Portage never raises a fee, and sends the same transaction again.',
  ),
  feeHistory: z
    .strictObject({
      blocks: usually(whole(1, 1024), 4).describe('Number of blocks in eth_feeHistory (chainlink-evm: 4 for Ethereum, 24 for OP chains).'),
      percentile: usually(between(1, 99), 50).describe('Percentile of the tips in a block (chainlink-evm: 50 to 60).'),
    })
    .prefault({})
    .describe('How Portage reads the market price of gas.'),
  fees: optional(feePolicySchema).describe('Fee limits of this chain.'),
  callFees: prefault(z.record(address, z.record(z.union([selector, z.literal('*')]), feePolicySchema)), {}).describe(
    'Contract → selector (or * for all) → fee limits of calls to the contract.',
  ),
  treasury: z
    .strictObject({
      address: address.describe('Receives earned fees and spare coins (portage lane sweep).'),
      tokens: prefault(z.array(address), []).describe('ERC-20 tokens that are swept in addition to the coin.'),
    })
    .optional()
    .describe('The account that a sweep pays.'),
  watchTokens: optional(z.array(watchedTokenSchema).max(20)).describe(
    'ERC-20 tokens whose balances are read, shown and exported for each lane of the chain.',
  ),
  topUp: topUpSchema.optional(),
  finality: usually(finalitySchema, { kind: 'tag' }).describe('When a block is final, so that it can no longer leave the chain.'),
  blockTimeMs: whole(50, 3_600_000).describe('Expected time between blocks, which also sets how often the head is polled.'),
  contracts: z
    .strictObject({
      core: address.describe('Wormhole core contract: guardian sets and published messages.'),
      tokenBridge: optional(address).describe('Wormhole token bridge contract. Absent: the chain has no token bridge.'),
    })
    .optional()
    .describe('Wormhole contracts of this chain. Required for all bridges of Wormhole.'),
  bumpAfterBlocks: usually(whole(1, 10_000), 3).describe(
    'The transaction of the lowest nonce is replaced with a higher fee if it is not mined after this many blocks.',
  ),
  shadow: usually(z.boolean(), false).describe(
    'Shadow mode: Portage checks and prices transfers to this chain, but sends no transactions and loads no key of the chain.',
  ),
  signing: signingLimitsSchema,
  lanes: prefault(z.array(laneSchema), []).describe('Keys that deliver on this chain. Without a key, transfers to the chain wait.'),
})
