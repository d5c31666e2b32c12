import { decodeBase64, encodeBase64 } from 'ethers'
import { LRUCache } from 'lru-cache'
import type { At, Revert } from '../../chains/port.ts'
import { isPluginFailure, RelayerError } from '../../domain/catalogue/errors.ts'
import type { BridgeName, ChainName, Transfer } from '../../domain/transfer/transfer.ts'
import { keptReads } from '../../runtime/shared-read.ts'
import type { Bridge, Endpoint, NextStage, PlannedDelivery, RevertMeaning, Stages } from '../port.ts'
import { callsOf, createProveCall, encodeCall, paidCallsOf } from './calls.ts'
import { type ContractReader, unless } from './contract-reader.ts'
import { demandSize } from './demands.ts'
import { type DeliveryLog, type DeliveryReader, findDelivery, hasLog } from './logs.ts'
import type { Call, Message, Plugin, Route, Shown, SignedMessage, Stage } from './plugin.ts'
import type { Decode } from './published.ts'
import { type ChainNames, createProve, ofNobody, readRouted, type Routed, signedRefusals, type Verify } from './signed-messages.ts'
import { type Refusals, toVerdict } from './verdict.ts'
import { allShow, readView } from './views.ts'

interface CallOptions {
  /** The call must pay the token without unwrapping it, so that no code of the recipient runs. */
  readonly wrapped: boolean
  /** Reads a view from most nodes, and only once, because its answer never changes. */
  constant(view: Omit<Shown, 'is'>): Promise<readonly unknown[]>
}

interface ProductStage<C> extends Pick<Stage<C>, 'effect'> {
  call(message: Message<C>, options: CallOptions): Call | Promise<Call>
  readonly revertsOnceDone: boolean | ((message: Message<C>) => boolean)
}

/** A product of this repository may do more than a plug-in package. */
export interface Product<C> extends Omit<Plugin<C>, 'stages' | 'reverts' | 'policy' | 'earned'> {
  readonly stages: Readonly<Record<string, ProductStage<C>>>
  readonly reverts?: Plugin<C>['reverts'] | ((revert: Revert, content?: C) => RevertMeaning)
  /** Returns the error for a message without a route. Absent: PAYLOAD_KIND. */
  unrouted?(message: SignedMessage, route?: Route): RelayerError
  /** Applies the operator's policy. Throws a code of `refusals`. */
  admit?(message: Message<C>): void | Promise<void>
  first?(message: Message<C>): string | undefined
  /** Verdicts of further errors, in addition to the verdicts of all signed messages. */
  readonly refusals?: Refusals
  /** A log that every receipt of a delivery contains. */
  log?(message: Message<C>): DeliveryLog
  /** Reads the decimals of the amount once per token. Never throws. */
  decimals?(message: Message<C>): Promise<number | undefined>
  /** Resolves to the same value as `PlannedDelivery.earned`. */
  earned?(message: Message<C>): bigint | undefined | Promise<bigint | undefined>
}

/** A plug-in that is part of Portage (`receivers`, NTT). */
export type BuiltInPlugin<C> = Omit<Plugin<C>, 'policy' | 'earned'> & Pick<Product<C>, 'first'>

const mostKept = 2_048
/** Maximum length of a kept message, and maximum sum of all kept messages with their contents, bytes. */
const [mostKeptBytes, mostBytes] = [4_096, 16_000_000]

interface Owned<C> extends Routed {
  readonly message: Message<C>
  readonly parties: ReturnType<Product<C>['parties']>
}

export type PluginMessages<C> = ReturnType<typeof createPluginMessages<C>>

export function createPluginMessages<C>(
  { routes, decode, parties, bytesOf, unrouted = ofNobody }: Pick<Product<C>, 'routes' | 'decode' | 'parties' | 'bytesOf' | 'unrouted'>,
  chainNames: ChainNames,
) {
  /**
   * Finds the route without decoding the payload. Throws VAA_*, the error of `unrouted` and, if the message is not of
   * the transfer, MESSAGE_MISMATCH.
   */
  const route = (bytes: Uint8Array, transfer?: Transfer): Routed => readRouted(bytes, routes, chainNames, { unrouted, transfer })
  function readOwned(bytes: Uint8Array): Owned<C> {
    const { vaa, signed, route: own } = route(bytes)
    const content = decode(signed, own)
    if (content === undefined) throw unrouted(signed, own)
    const message = { ...signed, content }
    return { vaa, signed, route: own, message, parties: parties(message) }
  }
  const kept = new LRUCache<string, Owned<C>>({
    max: mostKept,
    maxSize: mostBytes,
    sizeCalculation: ({ message }, text) => text.length + (bytesOf?.(message.content) ?? 0),
    memoMethod: (message) => readOwned(decodeBase64(message)),
  })
  /** Throws VAA_*, PAYLOAD_LENGTH and, for a message without a route, the error of `unrouted`. */
  const read = (message: string) => (message.length > (mostKeptBytes * 4) / 3 ? readOwned(decodeBase64(message)) : kept.memo(message))
  const readBytes = (bytes: Uint8Array) => read(encodeBase64(bytes))
  const about: Pick<Bridge, 'content' | 'signedBy'> = {
    content: (bytes) => readBytes(bytes).parties,
    signedBy: (bytes) => readBytes(bytes).vaa.guardianSetIndex,
  }
  return { route, read, readBytes, about }
}

/** Makes `Bridge.decode`. Throws MESSAGE_TOO_LARGE and the errors of `PluginMessages.read`. */
export function createPluginDecode<C>({ name }: Pick<Product<C>, 'name'>, messages: PluginMessages<C>): Decode {
  return (bytes) => {
    const { route, message } = messages.readBytes(bytes)
    return toTransfer(name, message, route.to)
  }
}

/** Throws MESSAGE_TOO_LARGE. */
export function toTransfer(bridge: BridgeName, signed: SignedMessage, targetChain: ChainName): Transfer {
  const { bytes, source: sourceChain, emitterChain, emitter, sequence, digest } = signed
  demandSize(bytes)
  const sourceId = String(emitterChain)
  return { bridge, sourceChain, sourceId, targetChain, emitter, sequence, digest, message: encodeBase64(bytes) }
}

/** Tries the decoders in turn. PAYLOAD_KIND means that a bridge does not own the message. */
export function firstOwner(decodes: readonly Decode[]): Decode {
  return (message) => {
    let refusal: unknown
    for (const decode of decodes) {
      try {
        return decode(message)
      } catch (error) {
        if (!(error instanceof RelayerError) || error.code !== 'PAYLOAD_KIND') throw error
        refusal = error
      }
    }
    throw refusal
  }
}

export interface PluginEndpointOptions {
  readonly chain: ContractReader & DeliveryReader
  readonly clock: () => number
  readonly chainNames: ChainNames
  readonly verify: Verify
}

/** A message without a route is declined instead of rejected, because the config may get a route for it later. */
const ownRefusals: Refusals = { ...signedRefusals, PAYLOAD_KIND: { kind: 'declined' } }

function createDelivery<C>(product: Product<C>, messages: PluginMessages<C>, chain: ContractReader): Endpoint['delivery'] {
  const { name, stages, earned } = product
  const [firstStage = ''] = Object.keys(stages)
  const constants = keptReads((view: string) => readView(chain, JSON.parse(view), 'majority-latest'))
  const constant: CallOptions['constant'] = (view) => constants.get(JSON.stringify(view))
  return ({ message: text }, stage = firstStage) => {
    const { message, parties } = messages.read(text)
    const { call, revertsOnceDone } = stageOf(product, stage)
    const { recipient, token } = parties
    return {
      async call(payout) {
        const { contract, value = 0n, ...rest } = await call(message, { wrapped: payout === 'wrapped', constant })
        return { to: contract, data: encodeCall(rest), value: String(value) }
      },
      parties: { bridge: name, targetChain: chain.name, recipient, token },
      ...(earned && { earned: async () => earned(message) }),
      revertsOnceDelivered: typeof revertsOnceDone === 'boolean' ? revertsOnceDone : revertsOnceDone(message),
    }
  }
}

function stageOf<C>({ name, stages }: Product<C>, stage: string): ProductStage<C> {
  const found = stages[stage]
  if (found) return found
  throw new RelayerError('INPUT_INVALID', { detail: `The bridge ${name} has no stage ${stage}.` })
}

export function createPluginEndpoint<C>(product: Product<C>, messages: PluginMessages<C>, options: PluginEndpointOptions): Endpoint {
  const { chain, clock, verify } = options
  const { routes, delivered, next, log, reverts = {} } = product
  const own = routes.filter(({ to }) => to === chain.name)
  const prove = createProve(chain, verify)
  const delivery = createDelivery(product, messages, chain)
  const refusals = { ...ownRefusals, ...product.refusals }
  const messageOf = ({ message }: Transfer) => messages.read(message).message

  /**
   * Proves the message before the product decodes it. Undefined if the state of the target decides which call is next.
   */
  async function check(transfer: Transfer): Promise<PlannedDelivery | undefined> {
    await prove(messages.route(decodeBase64(transfer.message), transfer))
    const message = messageOf(transfer)
    await product.admit?.(message)
    if (next) return undefined
    const planned = delivery(transfer)
    // If the plug-in's code fails, the message stays valid. The caller makes the call again, and gets the failure.
    return { ...planned, intent: await unless(planned.call(), isPluginFailure) }
  }

  async function accept(message: Uint8Array): Promise<number | undefined> {
    await prove(messages.route(message))
    // Decoding may refuse the message, so it is needed even without `decimals`.
    const owned = messages.readBytes(message)
    return product.decimals?.(owned.message)
  }

  /** Undefined for a message whose route is no longer in the config. */
  const routed = (transfer: Transfer) => unless((async () => messageOf(transfer))(), ({ code }) => code === 'PAYLOAD_KIND')

  async function isShown(transfer: Transfer, at: At, stage?: ProductStage<C>): Promise<boolean> {
    const message = await routed(transfer)
    return message ? allShow(chain, (stage?.effect ?? delivered)(message), at) : false
  }

  const staged: Stages | undefined = next && {
    first: (transfer) => product.first?.(messageOf(transfer)),
    async next(transfer, isDoubted) {
      const message = messageOf(transfer)
      return nextStage((at) => next(message, { now: clock(), read: (view) => readView(chain, view, at) }), isDoubted)
    },
    passed: (transfer, stage, at) => isShown(transfer, at, stageOf(product, stage)),
  }

  return {
    chain: chain.name,
    verify: (message) => toVerdict(verify(message), refusals),
    accept,
    validate: (transfer) => toVerdict(check(transfer), refusals),
    delivered: (transfer, at) => isShown(transfer, at),
    mayShow: async (transfer) => (await routed(transfer)) !== undefined,
    findDelivery: async (transfer) => log && findDelivery(chain, log(messageOf(transfer))),
    delivery,
    ...(staged && { stages: staged }),
    calls: callsOf(own),
    paidCalls: paidCallsOf(own),
    proveCall: createProveCall({ ...options, routes, prove, product }),
    explainRevert(revert, transfer) {
      if (typeof reverts === 'function') return reverts(revert, transfer && messageOf(transfer).content)
      return reverts[revert.data.slice(0, 10).toLowerCase()] ?? { kind: 'unknown', code: 'DELIVERY_REVERTED', reason: revert.reason }
    },
    hasEffect(receipt, transfer) {
      if (receipt.status !== 'success') return false
      return log ? hasLog(receipt, log(messageOf(transfer))) : undefined
    },
  }
}

type Next = Awaited<ReturnType<NonNullable<Product<unknown>['next']>>>

async function nextStage(ask: (at: At) => Promise<Next>, isDoubted = false): Promise<NextStage> {
  const first = isDoubted ? undefined : await ask('latest')
  // A wrong stage reverts, but any other answer delays the transfer, so one node's word is not enough.
  const answer = first && 'stage' in first ? first : await ask('majority-latest')
  if ('stage' in answer) return { kind: 'stage', stage: answer.stage }
  if ('never' in answer) return { kind: 'never', code: 'DELIVERY_REVERTED', reason: answer.never }
  return { kind: 'wait', code: 'DELIVERY_NOT_DUE', reason: answer.wait, opensAt: answer.opensAt }
}
