import { optional, prefault, z } from 'zod'
import { limits } from '../../domain/stream/gaps.ts'
import { forms, isOf } from '../../domain/text/forms.ts'
import { address, chainName, decimal, hostAndPort, listOf, sequence, sourceName, text, url, usually, wei, whole } from '../load/values.ts'

export const originToken = text(/^[1-9][0-9]{0,4}\/(0x)?[0-9a-fA-F]{64}$/, 'must be <wormhole chain id>/<64 hex digits of the token>')
  .refine((value) => Number(value.split('/')[0]) <= 65_535, 'must begin with a wormhole chain id of at most 65535')
  .transform((value) => value.toLowerCase().replace('/0x', '/'))

const ofTokens = <Value extends z.ZodType<string, string>>(value: Value) => prefault(z.record(chainName, z.record(originToken, value)), {})
const decimalOr = (form: RegExp, end: string, what: string) => {
  const rule = `must be ${forms.decimal.what} in quotes, or ${what}`
  return text(form, rule).refine((value) => value.endsWith(end) || isOf(forms.decimal, value), rule)
}
const minimumFee = decimalOr(/^([0-9]{1,78}|[0-9]{1,8}(\.[0-9]{1,10})? dollars)$/, ' dollars', "dollars, like '0.5 dollars'")
const price = decimalOr(/^([0-9]{1,78}|feed)$/, 'feed', "'feed'")

const wormholeChainNumber = text(/^[1-9][0-9]{0,4}$/, "must be Wormhole's number of a chain").refine(
  (value) => Number(value) <= 65_535,
  'must be at most 65535',
)
const emitter = text(
  /^(0x)?[0-9a-fA-F]{64}$/,
  'must be an emitter: 64 hex digits (20 bytes of an address have 24 zeros before them)',
).transform((value) => value.toLowerCase().replace('0x', ''))

export const maxOpen = whole(1, limits.open).default(200)
const changing = 'A running stream adopts a change when an intake starts, unless an operator set another number.'

export const emitterStreamSchema = z.strictObject({
  first: optional(sequence).describe(
    'Lowest sequence to deliver, used only when the stream begins. Absent: the first sequence of the last `streams.lookBackDays`, and at least the latest 1,000 sequences. For a chain without a node: the first received message.',
  ),
  startBlock: optional(whole(0)).describe(
    'Block of the sequence `first`. Absent: to find the messages of a gap, Portage searches only the latest blocks.',
  ),
  maxOpen: maxOpen.describe(`Maximum number of open transfers of this emitter. ${changing}`),
})

const vaaFunction = text(/^[A-Za-z_$][\w$]*\(bytes\)$/, 'must be a function that takes the signed VAA: name(bytes)')

const spySchema = z.strictObject({
  address: hostAndPort.describe('host:port of the guardian spy (gRPC).'),
  tls: z
    .strictObject({
      caFile: optional(z.string().min(1)).describe("PEM file with the CAs of the spy's certificate. Absent: the CAs that Node trusts."),
      serverName: optional(z.string().min(1)).describe("Name in the spy's certificate. Absent: the host of the address."),
    })
    .optional()
    .describe('TLS to a proxy in front of the spy. The spy itself has no TLS. {}: TLS with the CAs that Node trusts. Absent: plain text.'),
})

export const wormholeTokenBridgeSchema = z.strictObject({
  spies: z
    .array(spySchema)
    .max(10)
    .refine((spies) => new Set(spies.map(({ address }) => address)).size === spies.length, 'must not name an address twice')
    .default([])
    .describe(
      'Guardian spies. The role intake reads all of them. A message that several spies send starts one transfer. Empty: Portage fetches all messages from `guardianApis` and `wormholescanApis`, and so starts transfers later.',
    ),
  guardianApis: usually(z.array(url), []).describe('REST APIs of guardians from which Portage fetches signed VAAs.'),
  wormholescanApis: usually(z.array(url), []).describe('Wormholescan APIs (https://api.wormholescan.io), asked after the guardians.'),
  everySource: optional(z.enum(['mainnet', 'testnet'])).describe(
    "Deliver from all token bridges that Wormhole's SDK knows on this network. Such sources need no entry in `chains` and no node. Transfers name them `wormhole-<chain id>`. A chain of this config needs its `contracts.tokenBridge`, if the SDK knows the bridge. docs/concepts/wormhole-streams.md lists the proofs for chains without a node. Absent: only the chains of this config.",
  ),
  emitters: prefault(z.record(wormholeChainNumber, emitter), {}).describe(
    "Wormhole chain id of a chain without a node → emitter of its token bridge (64 hex digits). The emitter replaces the SDK's emitter, and works with or without `everySource`.",
  ),
  streams: usually(z.record(sourceName, emitterStreamSchema), {}).describe(
    'Source chain (without a node: `wormhole-<chain id>`) → settings of its stream. The streams of other chains use the defaults.',
  ),
  minimumFees: ofTokens(minimumFee).describe(
    "Target chain → origin token → minimum fee, in the VAA's units of the token (at most 8 decimals), or in dollars ('0.5 dollars'), which need a price of the token in `priceFeed`. Portage declines transfers of other tokens (FEE_NOT_CONFIGURED), except on `freeRoutes`.",
  ),
  prices: ofTokens(price).describe(
    "Target chain → origin token → value of one VAA unit of the token (at most 8 decimals), wei of the target's coin, or 'feed' for the value at the prices of `priceFeed`. A transfer waits (FEE_BELOW_COST) while its fee is worth less than the gas of its delivery. Absent: fees are not compared with costs.",
  ),
  freeRoutes: z
    .array(
      z.strictObject({
        source: optional(sourceName).describe('Source chain (without a node: `wormhole-<chain id>`). Absent: any.'),
        target: chainName.describe('Target chain.'),
      }),
    )
    .default([])
    .describe(
      'Routes that are free for tokens without a minimum fee. Anyone can make your lanes pay for gas on a free route. Absent: none.',
    ),
  calls: prefault(z.record(chainName, z.record(address, vaaFunction)), {}).describe(
    'Target chain → recipient contract → function that redeems a payload 3, as name(bytes). Absent: transfers with payload 3 are declined.',
  ),
  assets: optional(z.array(originToken)).describe('Origin tokens to deliver. Absent: all.'),
})

/** An emitter: 64 hex digits, or the address of a contract, which is padded to 64 digits. */
export const emitterOrAddress = z
  .union([emitter, address], { error: 'must be an emitter (64 hex digits) or the address of an emitting contract' })
  .transform((value) => value.replace('0x', '').padStart(64, '0'))

const payloadOffset = text(/^(0|[1-9][0-9]{0,5})$/, 'must be an offset in the payload, in bytes')
const payloadBytes = text(/^(0x)?([0-9a-fA-F]{2}){1,64}$/, 'must be 1 to 64 bytes in hex').transform((value) =>
  value.toLowerCase().replace('0x', ''),
)
const literal = /^(true|false|[0-9]{1,78}|0x([0-9a-fA-F]{2}){1,32})$/
const wordOr = (others: string) =>
  text(literal, `must be true, false, a decimal number${others}`)
    .refine((value) => !/^[0-9]+$/.test(value) || BigInt(value) < 2n ** 256n, 'must be below 2^256')
    .describe('true, false, a decimal number, or 0x hex.')
const oneWord = wordOr(' or 0x hex')
export const wordType = /^(bool|address|bytes32|u?int(8|16|32|64|128|160|256))$/
const viewOfWords = text(/^[A-Za-z_$][\w$]*\([a-z0-9,]*\)$/, 'must be a view: name(bytes32,uint64)').refine(
  (value) => typesOf(value).every((type) => wordType.test(type)),
  'must have only arguments of one word: bool, address, bytes32, uint8 … uint256',
)

export function typesOf(view: string): string[] {
  return view
    .slice(view.indexOf('(') + 1, -1)
    .split(',')
    .filter((type, _, all) => type !== '' || all.length > 1)
}

/** For each placeholder of a message's value, the types of arguments that can hold the value. */
const fitting: Readonly<Record<string, RegExp>> = {
  $digest: /^(bytes32|uint256)$/,
  $emitter: /^(bytes32|uint256)$/,
  $emitterChain: /^uint(16|32|64|128|160|256)$/,
  $sequence: /^uint(64|128|160|256)$/,
}

export function fitsType(arg: string, type: string): boolean {
  const form = Object.hasOwn(fitting, arg) ? fitting[arg] : undefined
  if (form) return form.test(type)
  // This check also runs for an entry that the schema of `arg` has refused.
  if (!literal.test(arg)) return false
  if (type === 'bool') return arg === 'true' || arg === 'false'
  if (type === 'address' || type === 'bytes32') return arg.length === (type === 'address' ? 42 : 66)
  return !/^(true|false)$/.test(arg) && BigInt(arg) < 2n ** (BigInt(type.replace(/^u?int/, '')) - (type.startsWith('u') ? 0n : 1n))
}

/** A value of a message, or a literal of one word. */
export const messageWord = z.union([
  z.enum(['$digest', '$emitter', '$emitterChain', '$sequence']),
  wordOr(', 0x hex, $digest, $emitter, $emitterChain or $sequence'),
])

export const deliveredViewSchema = z
  .strictObject({
    contract: optional(address).describe('Contract that has the view. Absent: the contract that gets the message.'),
    view: viewOfWords.describe(
      'The view, as name(types), such as isTransferCompleted(bytes32). The view answers with one word (32 bytes).',
    ),
    args: z
      .array(messageWord)
      .refine((args) => args.includes('$digest'), 'must have $digest, because only the digest names one message')
      .default(['$digest'])
      .describe(
        'Arguments of the view, in order: `$digest` (required), `$emitter`, `$emitterChain` or `$sequence` of the message, or a literal of one word (32 bytes).',
      ),
    is: usually(oneWord, 'true').describe('The answer of the view when the message is delivered.'),
  })
  .refine(({ view, args }) => {
    const types = typesOf(view).filter(Boolean)
    return types.length === args.length && args.every((arg, index) => fitsType(arg, types[index] ?? ''))
  }, 'must have one argument of the right type for each type of the view')

/** The messages that one emitter sends to one contract. */
const receiverRouteSchema = z.strictObject({
  source: sourceName.describe('Source chain (without a node: `wormhole-<chain id>`).'),
  emitter: emitterOrAddress.describe('Emitter: the address of the emitting contract, or 64 hex digits.'),
  where: usually(z.record(payloadOffset, payloadBytes), {}).describe(
    'Offset in the payload, in bytes → the bytes at this offset. All pairs must match. Payload 3 of the token bridge has the recipient contract (32 bytes) at 67 and its chain (2 bytes) at 99.',
  ),
  target: chainName.describe('Target chain.'),
  contract: address.describe('Contract that gets the message.'),
  function: usually(vaaFunction, 'executeVAAv1(bytes)').describe(
    "Function of the contract that takes the signed VAA, as name(bytes). The default is the function of Wormhole's Executor receivers.",
  ),
  delivered: deliveredViewSchema.describe('The view whose answer decides whether a transfer is delivered.'),
  coins: optional(
    z
      .strictObject({
        atMost: wei.describe('Maximum amount of coins in a call. A key does not sign a call with more coins.'),
        value: optional(wei).describe('Coins of each call. Absent: `atMost`.'),
      })
      .refine(({ atMost, value = atMost }) => BigInt(value) <= BigInt(atMost), 'must not have a value above atMost'),
  ).describe(
    'Coins that each call carries. The lane pays them, so anyone who can make the emitter send a message makes your lanes pay. Only for contracts that refuse a second call for a message. Absent: calls carry no coins.',
  ),
  free: z
    .literal(true)
    .describe('Must be true: such messages pay no fee, so anyone who can make the emitter send a message makes your lanes pay for gas.'),
  stream: prefault(emitterStreamSchema, {}).describe(
    "Settings of the emitter's stream. If an emitter has several routes, the settings of the first route count. Ignored for token bridges, which have `streams`.",
  ),
})

export const receiversSchema = z.strictObject({
  routes: listOf(receiverRouteSchema, 1, 200).describe(
    'Routes from an emitter to a contract. The first route that matches a message takes the message, before the token bridge does.',
  ),
})

const nttPeerSchema = z.strictObject({
  manager: emitterOrAddress.describe('Address of the NttManager, or 64 hex digits.'),
  transceivers: listOf(emitterOrAddress, 1, 10).describe(
    'WormholeTransceivers of the manager. Transceivers at the same position in the lists of two chains are peers.',
  ),
})

export const nttSchema = z.strictObject({
  tokens: z
    .array(
      z.strictObject({
        peers: z
          .record(sourceName, nttPeerSchema)
          .refine((peers) => Object.keys(peers).length > 1, 'must have at least two chains')
          .describe('Chain (without a node: `wormhole-<chain id>`) → contracts of the token on this chain.'),
        free: optional(z.literal(true)).describe(
          'Portage delivers all transfers. NTT pays the relayer nothing, so anyone who sends a transfer makes your lanes pay for gas. Absent: only transfers that a request of `bridges.executor` pays for.',
        ),
        stream: prefault(emitterStreamSchema, {}).describe("Settings of the streams of the token's emitters."),
      }),
    )
    .min(1)
    .max(200)
    .describe('The tokens to deliver. Each has contracts on two or more chains.'),
})

const nativeRouteSchema = z.strictObject({
  source: chainName.describe('Source chain.'),
  target: chainName.describe('Target chain.'),
  sourceContract: address.describe('Bridge contract of the source.'),
  targetContract: address.describe('Bridge contract of the target, the only counterpart of the source contract.'),
  startBlock: usually(whole(0), 0).describe(
    'First block of the source to read: the block that deployed the contract. Used only when the stream begins.',
  ),
  maxOpen: maxOpen.describe(
    `Maximum number of open transfers, at which the scan waits. Transfers that are parked, or have waited a long time for a reason of their own, do not count. ${changing}`,
  ),
  minimumAmount: optional(decimal).describe(
    "Minimum amount, in the token's smallest unit. Smaller transfers are declined (AMOUNT_TOO_SMALL). The numbers of declined transfers are resolved as exceptions. Set the minimum to the value of a delivery's gas. '0': Portage delivers all transfers. Some bridges require '0'. Absent: like '0', but `config check` and `doctor` warn.",
  ),
  batch: optional(whole(2, 100)).describe(
    'Maximum number of completions in one transaction (batchCompleteBridgeTransfer). Absent: no batches. Try 20.',
  ),
})

export const nativeBridgeSchema = z.strictObject({
  routes: z.array(nativeRouteSchema).min(1).describe('The directions to deliver. A bridge in both directions has two routes.'),
})

export type NativeBridgeConfig = z.output<typeof nativeBridgeSchema>
