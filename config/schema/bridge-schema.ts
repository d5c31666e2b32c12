import { z } from 'zod'
import { limits } from '../../domain/stream/gaps.ts'
import { address, chainName, decimal, hostAndPort, sequence, sourceName, url, whole } from '../load/values.ts'

/** An asset by where it is native; after parsing always `<wormhole chain id>/<64 lower-case hex digits>`, so that keys can be compared. */
const originToken = z
  .string()
  .regex(/^[1-9][0-9]{0,4}\/(0x)?[0-9a-fA-F]{64}$/, 'must be <wormhole chain id>/<64 hex digits of the token>')
  // One that no chain can have would match no transfer, and the fee or the asset would seem to be set.
  .refine((value) => Number(value.split('/')[0]) <= 65_535, 'must begin with a wormhole chain id of at most 65535')
  .transform((value) => value.toLowerCase().replace('/0x', '/'))

/** Wormhole's number of a chain, as the name of a field. */
const wormholeChainNumber = z
  .string()
  .regex(/^[1-9][0-9]{0,4}$/, "must be Wormhole's number of a chain")
  .refine((value) => Number(value) <= 65_535, 'must be at most 65535')
const emitter = z
  .string()
  .regex(/^(0x)?[0-9a-fA-F]{64}$/, 'must be an emitter: 64 hex digits (20 bytes of an address have 24 zeros before them)')
  .transform((value) => value.toLowerCase().replace('0x', ''))

/** Ends the description of every field that a running stream takes over. */
const changing = 'A stream that runs takes a change over when an intake starts, unless an operator ordered another number.'

export const emitterStreamSchema = z.strictObject({
  first: sequence
    .optional()
    .describe(
      'Lowest sequence that is delivered; has an effect only where the stream begins. Absent: the first of the last `streams.lookBackDays`, and at least the latest 1,000; of a source without a node the first that is heard.',
    ),
  startBlock: whole(0).optional().describe('Block of its sequence `first`. Absent: only the latest blocks are read for the names of gaps.'),
  maxOpen: whole(1).max(limits.open).default(200).describe(`Most transfers of this emitter that are under way at a time. ${changing}`),
})

export const wormholeTokenBridgeSchema = z.strictObject({
  spy: z
    .strictObject({ address: hostAndPort.describe('host:port of the guardian spy (gRPC).') })
    .optional()
    .describe('The guardian spy that the intake listens to; absent: transfers come by API and CLI only.'),
  guardianApis: z.array(url).default([]).describe('Guardian REST APIs that signed VAAs are fetched from.'),
  wormholescanApis: z.array(url).default([]).describe('Wormholescan APIs (https://api.wormholescan.io): asked after the guardians.'),
  everySource: z
    .enum(['mainnet', 'testnet'])
    .optional()
    .describe(
      "Deliver from every source: the spy is asked for all token bridges that Wormhole's SDK knows on this network, and a source needs no entry in `chains` and no node. Its transfers name it `wormhole-<Wormhole's number>`. docs/concepts/streams.md says what is proved without a node. Absent: only the chains of this config.",
    ),
  emitters: z
    .record(wormholeChainNumber, emitter)
    .prefault({})
    .describe(
      "Wormhole's number of a chain without a node → the emitter of its token bridge (64 hex digits): beside `everySource`, or in place of it. It outranks the SDK's.",
    ),
  streams: z
    .record(sourceName, emitterStreamSchema)
    .default({})
    .describe(
      "Source chain (without a node: `wormhole-<Wormhole's number>`) → how its token bridge's messages are counted. Chains that are not named are counted by the defaults.",
    ),
  minimumFees: z
    .record(chainName, z.record(originToken, decimal))
    .prefault({})
    .describe(
      "Target chain → origin token → least fee, in the token's units as the VAA carries them (at most 8 decimals). Other tokens are declined (FEE_NOT_CONFIGURED), except on `freeRoutes`.",
    ),
  prices: z
    .record(chainName, z.record(originToken, decimal))
    .prefault({})
    .describe(
      "Target chain → origin token → what one unit of it is worth (a unit as the VAA carries it, at most 8 decimals), wei of the target's coin. A transfer whose fee is worth less than its gas costs now waits (FEE_BELOW_COST). Absent: fees are not compared with costs.",
    ),
  freeRoutes: z
    .array(
      z.strictObject({
        source: sourceName
          .optional()
          .describe("The chain on which its transfers start (without a node: `wormhole-<Wormhole's number>`); absent: any."),
        target: chainName.describe('The chain on which they end.'),
      }),
    )
    .default([])
    .describe(
      'Routes on which tokens without a fee in `minimumFees` are delivered for nothing: anybody can then make your lanes pay for gas. Absent: none.',
    ),
  calls: z
    .record(
      chainName,
      z.record(address, z.string().regex(/^[A-Za-z_$][\w$]*\(bytes\)$/, 'must be a function that takes the signed VAA: name(bytes)')),
    )
    .prefault({})
    .describe(
      'Target chain → recipient contract → its function that redeems a payload 3, as name(bytes). Without it such transfers are declined.',
    ),
  assets: z.array(originToken).optional().describe('Origin tokens that are delivered; absent: all.'),
})

/** One direction of a native bridge (MIP-61's contracts). */
export const nativeRouteSchema = z.strictObject({
  source: chainName.describe('The chain on which its transfers start.'),
  target: chainName.describe('The chain on which they end.'),
  sourceContract: address.describe('The bridge contract of the source.'),
  targetContract: address.describe('The bridge contract of the target: the only counterpart of the source contract.'),
  startBlock: whole(0)
    .default(0)
    .describe('Block of the source to begin with: the one that deployed its contract. Has an effect only where the stream begins.'),
  maxOpen: whole(1)
    .max(limits.open)
    .default(200)
    .describe(
      `Most transfers that are under way at a time; beyond it the scan waits. Those that are parked, or wait for long for what is their own, do not count, up to some 8,000 runs of numbers. ${changing}`,
    ),
  minimumAmount: decimal
    .default('0')
    .describe(
      "Smaller transfers are declined (AMOUNT_TOO_SMALL), in the token's smallest unit: their numbers are resolved as exceptions. 0: all are delivered; a bridge may ask its relayers for that.",
    ),
  batch: whole(2)
    .max(100)
    .optional()
    .describe('Most completions in one transaction when several wait (batchCompleteBridgeTransfer); absent: each has its own. Try 20.'),
})

export const nativeBridgeSchema = z.strictObject({
  routes: z.array(nativeRouteSchema).min(1).describe('The directions that are delivered; a bridge in both directions has two.'),
})

export type NativeBridgeConfig = z.output<typeof nativeBridgeSchema>
