import { z } from 'zod'
import { nativeBridgeSchema, wormholeTokenBridgeSchema } from './bridge-schema.ts'
import { address, decimal, milliseconds, name, url, selector } from './values.ts'

/** What may be spent; see domain/fees/policy.ts. The most specific rule that sets a field decides it. */
export const feePolicySchema = z.strictObject({
  maxFeePerGas: decimal.optional().describe('Most that a unit of gas may cost, wei.'),
  maxTip: decimal.optional().describe("Most of that for the block's builder, wei."),
  maxFeePerTransaction: decimal.optional().describe('Most that a whole transaction may cost, the data fee of an L2 included, wei.'),
  baseFeeCeiling: decimal.optional().describe('Above this base fee, wei, nothing new is sent: transfers wait, and hold no nonce.'),
  gasFactor: z.number().min(1).max(5).optional().describe('The gas limit is the estimate times this. Where nothing is set: 1.2.'),
  gasLimit: decimal.optional().describe('Most gas units of a transaction; a call that needs more is not sent.'),
})

/** Where a lane's key is. `environment` is for development: keys in environment variables leak easily. */
export const signerSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('keystore').describe('An encrypted Ethereum keystore file (version 3).'),
    file: z.string().min(1).describe('Path of the file; relative to the config file.'),
    passwordFile: z.string().min(1).optional().describe('A file whose first line is the password; relative to the config file.'),
    passwordVariable: z.string().min(1).optional().describe('The environment variable that holds the password.'),
  }),
  z.strictObject({
    kind: z.literal('environment').describe('A private key in an environment variable: development only.'),
    variable: z.string().min(1).describe('The name of the environment variable.'),
  }),
  z.strictObject({
    kind: z.literal('remote').describe("A remote signer over HTTP, of the shape of web3signer's eth1 API."),
    url: url.describe('Its base URL. Credentials in it never appear in logs.'),
    identifier: z
      .string()
      .optional()
      .describe("The key's identifier there (web3signer: its public key); absent: found by the lane's address."),
    timeoutMs: milliseconds.min(100).default(5000).describe('Longest wait for a signature.'),
  }),
  z.strictObject({
    kind: z
      .literal('aws-kms')
      .describe('A secp256k1 key in AWS KMS (ECC_SECG_P256K1, SIGN_VERIFY). Credentials come the way of the AWS SDK.'),
    keyId: z.string().min(1).describe('Key id, ARN or alias.'),
    region: z.string().optional().describe('AWS region; absent: from the environment.'),
    endpoint: url.optional().describe('Another endpoint than AWS, for tests.'),
  }),
])

/** What a key may sign: a transaction to anything else is refused by its signer. */
export const signingPolicySchema = z
  .record(address, z.array(selector).min(1))
  .describe('Contract → selectors of the functions that the key may call. No-ops to itself are always allowed.')

export const laneSchema = z.strictObject({
  address: address.describe('The address of the key. Every worker of the chain knows it; only lane workers need the signer.'),
  signer: signerSchema.optional().describe('Where the key is; absent on workers that do not serve this lane.'),
  allow: signingPolicySchema
    .optional()
    .describe(
      "Contracts and functions that the key may call; absent: those of the config's bridges. Beside them always: no-ops, coins to the treasury and to other lanes of the chain, listed tokens to the treasury.",
    ),
  minimumBalance: decimal
    .optional()
    .describe('Below this balance, wei, the lane takes no new work until it is funded. Absent: only what is in flight must be payable.'),
  fees: feePolicySchema.optional().describe('Limits of this lane.'),
  window: z
    .number()
    .int()
    .min(1)
    .max(128)
    .default(16)
    .describe('Most nonces in flight. Public pools: 16 (go-ethereum AccountSlots), up to 64; devnets and sequencers 64-128.'),
})

export const finalitySchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('tag') }).describe('The node tags the finalized block.'),
  z
    .strictObject({ kind: z.literal('depth'), blocks: z.number().int().min(1).max(10_000) })
    .describe('Final that many blocks below the head.'),
  z.strictObject({ kind: z.literal('instant') }).describe('A block is final at once.'),
])

export const chainSchema = z.strictObject({
  family: z.literal('evm').describe('How the chain is spoken to.'),
  networkId: z.number().int().positive().describe('EIP-155 chain id; checked against every node.'),
  wormholeChainId: z
    .number()
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .describe("Wormhole's number of the chain (2 is Ethereum). Wormhole's bridge needs it."),
  nodes: z
    .array(
      z.strictObject({
        url: url.describe('JSON-RPC over HTTP. Keys in it never appear in logs.'),
        name: name.optional().describe('For commands and metrics; absent: node-1, node-2… in the order of this list.'),
        use: z
          .enum(['all', 'read', 'send', 'private'])
          .default('all')
          .describe(
            'all: reads and sends; read: never sends; send: broadcast only; private: sends that the public pool must not see (MEV-protected).',
          ),
        requestsPerSecond: z.number().min(0.1).optional().describe('Most calls per second; absent: no limit of ours.'),
      }),
    )
    .min(1)
    .describe('The nodes of the chain, at least one that reads.'),
  send: z
    .enum(['public', 'private'])
    .default('public')
    .describe('public: to every node with use all or send. private: only to those with use private.'),
  errors: z
    .record(
      z.enum([
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
      ]),
      z.array(z.string().min(3)),
    )
    .optional()
    .describe(
      "Texts of this chain's nodes → what they mean, found anywhere in the message in any case; before all built-in ones. Class → texts.",
    ),
  feeModel: z
    .enum(['ethereum', 'op-stack', 'arbitrum'])
    .default('ethereum')
    .describe(
      'ethereum: base fee and tip, or legacy gas price. op-stack: also the L1 data fee of its oracle. arbitrum: a higher fee replaces nothing; resent only.',
    ),
  feeHistory: z
    .strictObject({
      blocks: z
        .number()
        .int()
        .min(1)
        .max(1024)
        .default(4)
        .describe('Blocks of eth_feeHistory (chainlink-evm: 4 for Ethereum, 24 for OP chains).'),
      percentile: z.number().min(1).max(99).default(50).describe('Percentile of the tips in a block (chainlink-evm: 50 to 60).'),
    })
    .prefault({})
    .describe('How the market is read.'),
  fees: feePolicySchema.optional().describe('Limits of this chain.'),
  callFees: z
    .record(address, z.record(z.union([selector, z.literal('*')]), feePolicySchema))
    .default({})
    .describe('Contract → selector (or * for all) → limits of calls to it.'),
  treasury: z
    .strictObject({
      address: address.describe('Where earned fees and spare coins go: portage lane sweep.'),
      tokens: z.array(address).default([]).describe('ERC-20 tokens that are swept, beside the coin.'),
    })
    .optional()
    .describe('Where a sweep sends to.'),
  finality: finalitySchema.default({ kind: 'tag' }).describe('When a block can no longer go away.'),
  blockTimeMs: milliseconds.min(50).describe('Expected time between blocks; also how often the head is asked for (at least every 4 s).'),
  contracts: z
    .strictObject({
      core: address.describe('The Wormhole core contract: guardian sets and published messages.'),
      tokenBridge: address.describe('The Wormhole token bridge contract.'),
    })
    .optional()
    .describe("The Wormhole contracts of this chain. Wormhole's bridge needs them."),
  bumpAfterBlocks: z
    .number()
    .int()
    .min(1)
    .default(3)
    .describe('A transaction at the lowest nonce that is not mined after this many blocks is replaced with a higher fee.'),
  lanes: z.array(laneSchema).default([]).describe('The keys that deliver on this chain. Without one, transfers to it wait.'),
})

/** Where checkpoints of streams are kept: never in Temporal. */
export const checkpointStoreSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('directory').describe('A folder, one file per stream.'),
    path: z.string().min(1).describe('Path of the folder; relative to the config file.'),
  }),
  z.strictObject({
    kind: z.literal('http').describe('An object store that takes PUT and GET: <url>/<stream>.json.'),
    url: url.describe('Its base URL. Credentials in it never appear in logs.'),
    authorization: z.string().min(1).optional().describe('The Authorization header, best from an environment variable.'),
  }),
])

/** A duration, with a least value that leaves healthy work enough time. */
const seconds = (least: number) => z.number().min(least).max(3_600)

export const configSchema = z.strictObject({
  temporal: z
    .strictObject({
      address: z.string().default('127.0.0.1:7233').describe('host:port of the Temporal frontend.'),
      namespace: z.string().default('default').describe('The Temporal namespace that holds the workflows.'),
    })
    .prefault({})
    .describe('The Temporal server.'),
  worker: z
    .strictObject({
      workflowTaskSeconds: seconds(1)
        .default(10)
        .describe('A workflow task that a process took and has not answered for so long is given to another process.'),
      stickySeconds: seconds(0.1)
        .default(10)
        .describe('A workflow task waits so long for the process that has the workflow in memory; then any process may take it.'),
      heartbeatSeconds: seconds(1)
        .default(10)
        .describe("A step with a lane's key that has given no sign of life for so long is given to another process."),
      laneTaskSeconds: seconds(1)
        .default(60)
        .describe(
          'A broadcast waits so long for a process with the key of its lane; then the transfer looks whether another lane is free.',
        ),
      fillAfterSeconds: seconds(1)
        .default(60)
        .describe('A stuck nonce that no process drives is filled with a no-op after so long, and after at least 3 blocks.'),
      shutdownGraceSeconds: seconds(0).default(5).describe('Steps that run when the process is told to stop have so long to end.'),
      shutdownForceSeconds: seconds(1).default(20).describe('A step that has not ended after so long is left to another process.'),
    })
    .prefault({})
    .describe(
      'How soon the work of a process that died is taken over, and how a process stops. A workflow keeps the values that it was started with.',
    ),
  chains: z
    .record(name, chainSchema)
    .describe('The networks that are read and written, by a name of your choice; the same across a fleet.'),
  fees: feePolicySchema.optional().describe('Limits of every transaction, where nothing more specific is set.'),
  transfers: z
    .strictObject({
      priority: z
        .number()
        .int()
        .min(1)
        .max(5)
        .default(3)
        .describe('Class of a transfer whose sender names none: 1 goes first, 5 last. Waiting raises it.'),
      deadlineMinutes: z
        .number()
        .min(1)
        .optional()
        .describe('A transfer that is not delivered after so long is given up by its lane and parked; absent: never.'),
      abandonAfterMinutes: z
        .number()
        .min(0)
        .default(3)
        .describe(
          'So long a transfer that holds a nonce stays with a lane that is forbidden, or that no worker serves; then it goes to another.',
        ),
    })
    .prefault({})
    .describe('What holds for every transfer.'),
  audit: z
    .strictObject({
      everyMinutes: z.number().min(0.05).default(10).describe('How often the audit looks again at what was delivered.'),
      hours: z.number().min(0.1).default(24).describe('How far back it looks.'),
    })
    .prefault({})
    .describe('Delivered transfers are looked at again: a reorg deeper than finality may have undone one.'),
  streams: z
    .strictObject({
      rangeBlocks: z
        .number()
        .int()
        .min(1)
        .max(1_000_000)
        .default(2_000)
        .describe('Most blocks of one read of logs; less where a node refuses that many, and more again later.'),
      auditMinutes: z
        .number()
        .min(0.02)
        .default(5)
        .describe("How often a stream is held against its source's own count and table, and its open transfers against their workflows."),
      checkpoints: checkpointStoreSchema
        .optional()
        .describe('Where checkpoints are kept, so that a wiped Temporal is made good quickly; absent: nowhere, and all is read again.'),
    })
    .prefault({})
    .describe('The numbered sources of transfers, of which none may be missed.'),
  bridges: z
    .strictObject({
      'wormhole-token-bridge': wormholeTokenBridgeSchema.optional().describe("Wormhole's token bridge."),
      'native-bridge': nativeBridgeSchema.optional().describe("A chain's native bridge, with the contracts of MIP-61."),
    })
    .describe('The protocols whose transfers are delivered.'),
  api: z
    .strictObject({
      host: z
        .string()
        .default('127.0.0.1')
        .describe('The address that the API listens on. It has no authentication yet: keep it on loopback.'),
      port: z.number().int().min(0).max(65_535).default(8099).describe('0 takes any free port.'),
      requestsPerMinute: z.number().int().min(1).default(6000).describe('Most requests of one address in a minute.'),
    })
    .prefault({})
    .describe('The REST API.'),
})

/** The config after defaults. */
export type Config = z.output<typeof configSchema>
export type ChainConfig = z.output<typeof chainSchema>
export type LaneSettings = z.output<typeof laneSchema>
export type SignerConfig = z.output<typeof signerSchema>
