import { z } from 'zod'
import { nativeBridgeSchema, wormholeTokenBridgeSchema } from './bridge-schema.ts'
import { chainSchema } from './chain-schema.ts'
import { feePolicySchema, type laneSchema, type signerSchema } from './lane-schema.ts'
import { notificationsSchema } from './notification-schema.ts'
import { adminSchema, codecServerSchema, hostName, listenHost } from './server-schema.ts'
import { temporalSchema } from './temporal-schema.ts'
import { chainName, url, wei, whole } from '../load/values.ts'

/** Where checkpoints of streams are kept: outside Temporal, because they are needed when Temporal was wiped. */
const checkpointStoreSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('directory').describe('A folder, one file per stream.'),
    path: z.string().min(1).describe('Path of the folder; relative to the config file.'),
  }),
  z.strictObject({
    kind: z.literal('http').describe('An object store that takes PUT and GET: <url>/<stream>.json.'),
    url: url.describe('Its base URL. Credentials in it never appear in logs.'),
    authorization: z
      .string()
      .regex(/^[\x20-\x7e]+$/, 'must be one line of printable characters')
      .optional()
      .describe('The Authorization header, best from an environment variable.'),
  }),
  z.strictObject({
    kind: z.literal('none').describe('Nowhere: a stream then begins as if there had never been one.'),
  }),
])

/** A duration, with a least value that leaves healthy work enough time. */
const seconds = (least: number) => z.number().min(least).max(3_600)

/** Of Temporal's names of deployments and build ids: no dot in the first, and no colon, which joins the two. */
const deploymentSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,100}$/, 'must be letters, digits, _ and -')
    .default('portage')
    .describe('Of the whole fleet: the same for all roles and versions.'),
  buildId: z
    .string()
    .regex(/^[A-Za-z0-9._+-]{1,100}$/, 'must be letters, digits, and . _ + -')
    .describe('Of this version of the code, best from an environment variable that the image sets; another one for every release.'),
  endWhenDrained: z
    .boolean()
    .default(true)
    .describe('A process whose version was in use and has no open transfer any more ends by itself, with 0.'),
})

const workerSchema = z
  .strictObject({
    workflowTaskSeconds: seconds(1)
      .default(10)
      .describe('A workflow task that a process took and has not answered for so long is given to another process.'),
    stickySeconds: seconds(0.1)
      .default(10)
      .describe('A workflow task waits so long for the process that has the workflow in memory; then any process may take it.'),
    heartbeatSeconds: seconds(1)
      .default(15)
      .describe("A step with a lane's key that has given no sign of life for so long is given to another process."),
    laneTaskSeconds: seconds(1)
      .default(60)
      .describe('A broadcast waits so long for a process with the key of its lane; then the transfer looks whether another lane is free.'),
    fillAfterSeconds: seconds(1)
      .default(60)
      .describe('A stuck nonce that no process drives is filled with a no-op after so long, and after at least 3 blocks.'),
    shutdownGraceSeconds: seconds(0).default(5).describe('Steps that run when the process is told to stop have so long to end.'),
    shutdownForceSeconds: seconds(1).default(20).describe('A step that has not ended after so long is left to another process.'),
    deployment: deploymentSchema
      .optional()
      .describe(
        "Temporal's worker versioning: workers get work only once their version was promoted (portage deploy promote). Absent: they have no version, and take whatever comes. docs/operate/upgrade.md.",
      ),
  })
  .prefault({})
  .describe(
    'How soon the work of a process that died is taken over, and how a process stops. A workflow keeps the values that it was started with.',
  )

const transfersSchema = z
  .strictObject({
    priority: whole(1)
      .max(5)
      .default(3)
      .describe('Class of a transfer that was handed in without one: 1 goes first, 5 last. Waiting raises it.'),
    deadlineMinutes: z
      .number()
      .min(1)
      .max(525_600)
      .optional()
      .describe('A transfer that is not delivered after so long is taken from its lane and parked; absent: never.'),
    abandonAfterMinutes: z
      .number()
      .min(0)
      .max(525_600)
      .default(3)
      .describe('A transfer that holds a nonce of a lane that is forbidden, or that no worker serves, goes to another lane after so long.'),
    maxGas: whole(100_000)
      .max(100_000_000)
      .default(3_000_000)
      .describe(
        'Most gas of one delivery where no fee policy sets a gasLimit; what needs more is parked (GAS_LIMIT). A batch has so much for each of its members; chains with feeModel arbitrum, whose gas has the data fee in it, ten times as much.',
      ),
    setAsideSeconds: z
      .number()
      .min(0)
      .max(3_600)
      .default(60)
      .describe(
        'A recipient to which a delivery was simulated well and reverted gets no other for so long (QUARANTINED), and twice as long after each more, up to an hour. A retry by an operator is tried at once.',
      ),
    maxLossPerTokenPerHourWei: wei
      .default('50000000000000000')
      .describe(
        'What such deliveries of one token may cost on a target chain within an hour, wei (default: 0.05 coins of 18 decimals); beyond it transfers of that token wait (QUARANTINED). Batches have such a budget of their own; beyond it transfers of that token go alone. Counted by each process, from its start.',
      ),
  })
  .prefault({})
  .describe('Defaults and limits of every transfer.')

const streamsSchema = z
  .strictObject({
    rangeBlocks: whole(1)
      .max(1_000_000)
      .default(2_000)
      .describe('Most blocks of one read of logs; less where a node refuses that many, and more again later.'),
    auditMinutes: z
      .number()
      .min(0.02)
      .max(1_440)
      .default(5)
      .describe("How often a stream is compared with its source's own count and table, and its open transfers with their workflows."),
    asideAfterMinutes: z
      .number()
      .min(0.02)
      .max(1_440)
      .default(10)
      .describe(
        'A transfer that has waited for so long for what is its own (a token without a wrapper, a call that reverts) leaves its room in `maxOpen` to others; it is still watched.',
      ),
    checkpoints: checkpointStoreSchema
      .optional()
      .describe(
        'Where checkpoints are kept, from which streams begin after Temporal was wiped; absent: the folder `checkpoints` in `dataFolder`.',
      ),
    lookBackDays: z
      .number()
      .min(0)
      .max(90)
      .default(7)
      .describe(
        "How far back the stream of an emitter looks that begins without a checkpoint and without `first`: its chain's blocks tell what was published, and the target what was delivered. Whatever the time, the latest 1,000 numbers are looked at.",
      ),
  })
  .prefault({})
  .describe('The numbered sources of transfers, of which none may be missed.')

const accessSchema = z
  .strictObject({
    publicKeys: z
      .array(z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be a public key as portage token keys shows it'))
      .max(20)
      .default([])
      .describe(
        'Public keys of access tokens that were made on another machine (portage token keys). With any, this process makes no keys of its own.',
      ),
  })
  .prefault({})
  .describe('Access tokens for the API and for orders on the command line: docs/operate/access.md.')

/** Where what Temporal forgets at the end of its retention is kept. */
const archiveSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('directory').describe('A folder.'),
      path: z.string().min(1).describe('Path of the folder; relative to the config file.'),
    }),
    z.strictObject({
      kind: z
        .literal('s3')
        .describe('A bucket of S3, or of a server that speaks its protocol. Credentials come from where the AWS SDK looks for them.'),
      bucket: z
        .string()
        .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket')
        .describe('Its name.'),
      region: z
        .string()
        .regex(/^[a-z0-9-]{1,40}$/, 'must be the name of a region')
        .describe('Its region; of other servers what they say, such as auto or us-east-1.'),
      endpoint: url.optional().describe('Base URL of another server than AWS: the bucket is the first part of the path there.'),
      prefix: z
        .string()
        .regex(/^([\w.-]+\/)*$/, 'must be names that each end with a slash')
        .default('')
        .describe('Before the name of each object, such as portage/.'),
    }),
  ])
  .describe('Where portage archive writes the results of transfers and the orders, which Temporal forgets. Absent: nowhere.')

const telemetrySchema = z
  .strictObject({
    otlpEndpoint: url
      .optional()
      .describe(
        'Base URL of an OpenTelemetry collector that takes OTLP over HTTP (http://127.0.0.1:4318), to which traces of transfers are sent. OTEL_EXPORTER_OTLP_ENDPOINT goes before it. Absent: no traces, at no cost.',
      ),
    traceRatio: z.number().min(0).max(1).default(1).describe('Share of the transfers that are traced: 0.01 is one of a hundred.'),
  })
  .prefault({})
  .describe('Traces over OpenTelemetry: docs/operate/monitor/logs-and-traces.md.')

export const configSchema = z.strictObject({
  dataFolder: z
    .string()
    .min(1)
    .default('portage-data')
    .describe(
      'A folder for what has to outlive Temporal; relative to the config file. Made at first use, for the user of the process alone (mode 0700). Keep it on another disk than that of Temporal.',
    ),
  temporal: temporalSchema,
  worker: workerSchema,
  chains: z
    .record(chainName, chainSchema)
    .describe('The networks that are read and written, by a name of your choice; the same across a fleet.'),
  fees: feePolicySchema.optional().describe('Limits of every transaction, where nothing more specific is set.'),
  transfers: transfersSchema,
  audit: z
    .strictObject({
      everyMinutes: z.number().min(0.05).max(10_080).default(10).describe('How often delivered transfers are checked again.'),
      hours: z.number().min(0.1).max(8_760).default(24).describe('How far back it looks.'),
    })
    .prefault({})
    .describe('Delivered transfers are checked again: a reorg deeper than finality may have undone one.'),
  streams: streamsSchema,
  bridges: z
    .strictObject({
      'wormhole-token-bridge': wormholeTokenBridgeSchema.optional().describe("Wormhole's token bridge."),
      'native-bridge': nativeBridgeSchema.optional().describe("A chain's native bridge, with the contracts of MIP-61."),
    })
    .describe('The protocols whose transfers are delivered.'),
  access: accessSchema,
  api: z
    .strictObject({
      host: listenHost
        .default('127.0.0.1')
        .describe(
          'The address that the API listens on. It speaks plain HTTP: on another address than loopback put a proxy with TLS before it.',
        ),
      hosts: z
        .array(hostName)
        .max(100)
        .default([])
        .describe(
          'Names that the API is asked by, beside addresses and localhost. A request for any other is refused: a web page may point its own name here.',
        ),
      port: whole(0).max(65_535).default(8099).describe('0 takes any free port.'),
      requestsPerMinute: whole(1).max(10_000_000).default(6000).describe('Most requests of one address in a minute.'),
    })
    .prefault({})
    .describe('The REST API.'),
  admin: adminSchema,
  codecServer: codecServerSchema,
  telemetry: telemetrySchema,
  archive: archiveSchema.optional(),
  notifications: notificationsSchema,
})

/** The config after defaults. */
export type Config = z.output<typeof configSchema>
export type ChainConfig = z.output<typeof chainSchema>
export type LaneSettings = z.output<typeof laneSchema>
export type SignerConfig = z.output<typeof signerSchema>
