import { optional, prefault, z } from 'zod'
import { nativeBridgeSchema, nttSchema, receiversSchema, wormholeTokenBridgeSchema } from './bridge-schema.ts'
import { cctpSchema } from './cctp-schema.ts'
import { pluginsSchema } from './plugin-schema.ts'
import { chainSchema } from './chain-schema.ts'
import { executorSchema } from './executor-schema.ts'
import { feePolicySchema, type laneSchema, type signerSchema } from './lane-schema.ts'
import { notificationsSchema } from './notification-schema.ts'
import { priceFeedSchema } from './price-feed-schema.ts'
import { defaultParkAfter } from '../../domain/transfer/transfer.ts'
import { adminSchema, apiSchema, codecServerSchema } from './server-schema.ts'
import { temporalSchema } from './temporal-schema.ts'
import { authorization, between, chainName, path, text, url, usually, wei, whole } from '../load/values.ts'

/**
 * Where checkpoints are kept. The place is outside Temporal, because checkpoints are needed after Temporal was wiped.
 */
const checkpointStoreSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('directory').describe('A folder with one file per stream.'),
    path: path.describe('Path of the folder, relative to the config file.'),
  }),
  z.strictObject({
    kind: z.literal('http').describe('An object store that takes PUT and GET: <url>/<stream>.json.'),
    url: url.describe('Base URL of the object store. Credentials in the URL never appear in logs.'),
    authorization: optional(authorization).describe('Authorization header, best from an environment variable.'),
  }),
  z.strictObject({ kind: z.literal('none').describe('No checkpoints. After a loss of Temporal, streams start over.') }),
])

const seconds = (least: number, usual: number) => between(least, 3_600).default(usual)

/** Temporal allows no dot in the name of a deployment, and no colon, because a colon joins name and build id. */
const deploymentSchema = z.strictObject({
  name: usually(text(/^[A-Za-z0-9_-]{1,100}$/, 'must be letters, digits, _ and -'), 'portage').describe(
    'Name of the whole fleet: the same for all roles and versions.',
  ),
  buildId: text(/^[A-Za-z0-9._+-]{1,100}$/, 'must be letters, digits, and . _ + -').describe(
    'Version of the code, different for every release, best from a variable that the image sets.',
  ),
  endWhenDrained: usually(z.boolean(), true).describe(
    'A process of an old version exits with code 0 when no open transfer uses the version.',
  ),
})

const workerSchema = z
  .strictObject({
    workflowTaskSeconds: seconds(1, 10).describe('A workflow task without an answer goes to another process after this time, seconds.'),
    stickySeconds: seconds(0.1, 10).describe('How long a workflow task waits for the process that has the workflow in memory, seconds.'),
    heartbeatSeconds: seconds(1, 15).describe("A step with a lane's key goes to another process after this time without a heartbeat."),
    laneTaskSeconds: seconds(1, 60).describe(
      "How long a broadcast waits for a process with its lane's key before it tries another lane, seconds.",
    ),
    fillAfterSeconds: seconds(1, 60).describe(
      'A nonce that no process completes is filled with a no-op after this time, seconds, but not before 3 blocks.',
    ),
    shutdownGraceSeconds: seconds(0, 5).describe('How long running steps may continue when the process stops, seconds.'),
    shutdownForceSeconds: seconds(1, 20).describe(
      'A stopping process leaves its running steps to other processes after this time, seconds.',
    ),
    deployment: optional(deploymentSchema).describe(
      "Temporal's worker versioning: a version gets work when it is promoted. Absent: processes have no versions. docs/operate/upgrade.md.",
    ),
  })
  .prefault({})
  .describe(
    'How soon another process takes over after a crash, and how a process stops. A running workflow keeps the values with which it was started.',
  )

const transfersSchema = z
  .strictObject({
    priority: usually(whole(1, 5), 3).describe('Default priority: 1 goes first, 5 last. The priority of a waiting transfer rises.'),
    deadlineMinutes: optional(between(1, 525_600)).describe(
      'A transfer that is not delivered after this time leaves its lane and is parked. Absent: never.',
    ),
    abandonAfterMinutes: usually(between(0, 525_600), 3).describe(
      'If a lane is forbidden or has no worker, transfers with a nonce of this lane go to another lane after this time.',
    ),
    parkAfterReverts: usually(whole(1, 1_000), defaultParkAfter.reverts).describe(
      'A transfer is parked after this many of its calls reverted, or were refused by every node (DELIVERY_REVERTED). A paid request of the Executor is parked earlier if its payment covers fewer calls.',
    ),
    parkAfterSpentNonces: usually(whole(1, 1_000), defaultParkAfter.spentNonces).describe(
      'A transfer is parked after other transactions used this many of its nonces (DELIVERY_REVERTED). A call that nodes refused while most nodes did not answer counts as four.',
    ),
    maxGas: usually(whole(100_000, 100_000_000), 3_000_000).describe(
      'Gas limit of one delivery where no fee policy sets gasLimit. A transfer that needs more is parked (GAS_LIMIT). A batch has this much per member; chains with feeModel arbitrum, whose gas includes the data fee, have ten times as much.',
    ),
    quarantineSeconds: usually(between(0, 3_600), 60).describe(
      'How long a recipient is quarantined for a token (QUARANTINED) after a delivery reverted, or every node refused it, although its simulation succeeded. The time doubles after each further loss, up to an hour. A retry by an operator is not delayed.',
    ),
    maxLossPerTokenPerHourWei: prefault(wei, '50000000000000000').describe(
      'Maximum cost of reverted deliveries of one token on a target chain within an hour, wei (default: 0.05 coins of 18 decimals). Above this cost, transfers of the token wait (QUARANTINED), or are paid as the wrapped coin if the bridge unwraps. Contracts, batches and lost races each have a budget of this size. All tokens of a chain together have four such budgets (docs/concepts/threat-model.md). Each process counts the cost from its start.',
    ),
  })
  .prefault({})
  .describe('Defaults and limits of every transfer.')

const streamsSchema = z
  .strictObject({
    rangeBlocks: usually(whole(1, 1_000_000), 2_000).describe(
      'Maximum number of blocks in one read of logs. If a node refuses the range, Portage reads fewer blocks at a time.',
    ),
    auditMinutes: usually(between(0.02, 1_440), 5).describe(
      "How often a stream is compared with its source's count and table, and its open transfers with their workflows.",
    ),
    uncountedAfterMinutes: usually(between(0.02, 1_440), 10).describe(
      'After this time, a transfer that waits for a reason of its own (no wrapper, a reverting call) no longer counts in `maxOpen`.',
    ),
    checkpoints: optional(checkpointStoreSchema).describe(
      'Checkpoints, from which streams resume after Temporal was wiped. Absent: `checkpoints` in `dataFolder`.',
    ),
    lookBackDays: usually(between(0, 90), 7).describe(
      "How far back an emitter's stream begins if it has no checkpoint and no `first`. The stream covers at least the latest 1,000 numbers. A stream of messages without numbers also begins this far back if it has no checkpoint and no `startBlock`.",
    ),
  })
  .prefault({})
  .describe('The numbered sources of transfers. Portage accounts for every number.')

const accessSchema = z
  .strictObject({
    publicKeys: usually(z.array(text(/^[A-Za-z0-9_-]{43}$/, 'must be a public key as portage token keys shows it')).max(20), []).describe(
      'Public keys that verify tokens made on another machine (portage token keys). If the list has a key, this process does not make keys.',
    ),
  })
  .prefault({})
  .describe('Access tokens for the API and for orders on the command line: docs/operate/access.md.')

const archiveSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('directory').describe('A folder.'),
      path: path.describe('Path of the folder, relative to the config file.'),
    }),
    z.strictObject({
      kind: z.literal('s3').describe('A bucket of S3 or of a compatible server. The AWS SDK finds the credentials.'),
      bucket: text(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket').describe('Name of the bucket.'),
      region: text(/^[a-z0-9-]{1,40}$/, 'must be the name of a region').describe(
        'Region of the bucket. Servers other than AWS define their own regions, such as auto or us-east-1.',
      ),
      endpoint: optional(url).describe('Base URL of a server other than AWS. The name of the bucket is the first part of the path.'),
      prefix: usually(text(/^([\w.-]+\/)*$/, 'must be names that each end with a slash'), '').describe(
        "Prefix of each object's name, such as portage/.",
      ),
    }),
  ])
  .describe('Where `portage archive` writes the results of transfers and orders, because Temporal forgets them. Absent: no archive.')

const telemetrySchema = z
  .strictObject({
    otlpEndpoint: optional(url).describe(
      'Base URL of an OpenTelemetry collector (OTLP over HTTP). OTEL_EXPORTER_OTLP_ENDPOINT overrides it. Absent: no traces.',
    ),
    traceRatio: usually(between(0, 1), 1).describe('Share of transfers with a trace: 0.01 is one of a hundred.'),
  })
  .prefault({})
  .describe('Traces over OpenTelemetry: docs/operate/monitor/logs-and-traces.md.')

export const configSchema = z.strictObject({
  dataFolder: usually(path, 'portage-data').describe(
    'Folder for data that must survive a loss of Temporal, so keep it on a disk that Temporal does not use. The path is relative to the config file. Portage creates the folder at first use with mode 0700.',
  ),
  temporal: temporalSchema,
  worker: workerSchema,
  chains: z.record(chainName, chainSchema).describe('The networks, by names of your choice. All processes use the same names.'),
  fees: optional(feePolicySchema).describe('Fee limits of all chains and lanes that have no limits of their own.'),
  transfers: transfersSchema,
  audit: z
    .strictObject({
      everyMinutes: usually(between(0.05, 10_080), 10).describe('Time between two audits, minutes.'),
      hours: usually(between(0.1, 8_760), 24).describe('Maximum age of the deliveries that an audit checks, hours.'),
    })
    .prefault({})
    .describe('Audit of delivered transfers: a reorg deeper than finality may have undone a delivery.'),
  streams: streamsSchema,
  bridges: z
    .strictObject({
      'wormhole-token-bridge': optional(wormholeTokenBridgeSchema).describe("Wormhole's token bridge."),
      receivers: optional(receiversSchema).describe(
        'Delivers messages of any emitter to contracts that take a signed VAA. Needs wormhole-token-bridge, whose spies and APIs it uses.',
      ),
      ntt: optional(nttSchema).describe(
        "Wormhole's native token transfers (NTT) with its transceiver. Needs wormhole-token-bridge, whose spies and APIs it uses.",
      ),
      plugins: optional(pluginsSchema).describe(
        'Plug-in packages. `portage plugin add` writes this part. Needs wormhole-token-bridge, whose spies and APIs it uses.',
      ),
      executor: optional(executorSchema).describe(
        "Portage as a relay provider of Wormhole's Executor: it gives quotes and delivers paid requests. docs/operate/executor.md",
      ),
      cctp: optional(cctpSchema).describe(
        "Circle's CCTP, v1 and v2: USDC that is burned on one chain is minted on another. docs/operate/cctp.md",
      ),
      'native-bridge': optional(nativeBridgeSchema).describe("A chain's native bridge with the contracts of MIP-61."),
    })
    .describe('The bridges whose transfers Portage delivers.'),
  priceFeed: priceFeedSchema,
  access: accessSchema,
  api: apiSchema,
  admin: adminSchema,
  codecServer: codecServerSchema,
  telemetry: telemetrySchema,
  archive: archiveSchema.optional(),
  notifications: notificationsSchema,
})

export type Config = z.output<typeof configSchema>
export type ChainConfig = z.output<typeof chainSchema>
export type LaneSettings = z.output<typeof laneSchema>
export type SignerConfig = z.output<typeof signerSchema>
