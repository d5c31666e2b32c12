import { decodeBase64, encodeBase64 } from 'ethers'
import { LRUCache } from 'lru-cache'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { parseVaa, type Vaa } from '../../domain/vaa.ts'
import type { Endpoint, NextStage } from '../port.ts'
import { allShow, encodeCall, readView } from './calls.ts'
import type { ContractReader } from './contract-reader.ts'
import { digestOf } from './guardian-sets.ts'
import type { Message, Plugin, Route, Stage } from './plugin.ts'
import type { Decode } from './published.ts'
import { callsOf, createProveCall, routeOf } from './routes.ts'
import { type ChainNames, demandSame, signedRefusals, sourceName, toTransfer } from './signed-messages.ts'
import { toVerdict } from './verdict.ts'

const mostKept = 2_048
const mostKeptBytes = 4_096

interface Owned<C> {
  readonly vaa: Vaa
  readonly route: Route
  readonly message: Message<C>
}

export type PluginMessages<C> = ReturnType<typeof createPluginMessages<C>>

/** Reads the messages of a product, and keeps the latest of them. */
export function createPluginMessages<C>({ routes, decode }: Plugin<C>, chainNames: ChainNames) {
  function readOwned(bytes: Uint8Array): Owned<C> {
    const vaa = parseVaa(bytes)
    const route = routeOf(routes, vaa, chainNames)
    const { emitterChain, emitter, sequence, payload } = vaa
    const source = sourceName(chainNames, emitterChain)
    const signed = { bytes, source, emitterChain, emitter, sequence, digest: digestOf(vaa), payload }
    const content = decode(signed, route)
    if (content === undefined) throw new RelayerError('PAYLOAD_KIND', { facts: { emitterChain, emitter } })
    return { vaa, route, message: { ...signed, content } }
  }
  const kept = new LRUCache<string, Owned<C>>({ max: mostKept, memoMethod: (message) => readOwned(decodeBase64(message)) })
  /** Throws VAA_*, PAYLOAD_KIND for a message that is not of this product, PAYLOAD_LENGTH. */
  const read = (message: string) => (message.length > (mostKeptBytes * 4) / 3 ? readOwned(decodeBase64(message)) : kept.memo(message))
  return { read, readBytes: (bytes: Uint8Array) => read(encodeBase64(bytes)) }
}

/** Throws what `PluginMessages.read` throws, MESSAGE_TOO_LARGE. */
export function createPluginDecode<C>({ name }: Plugin<C>, messages: PluginMessages<C>, chainNames: ChainNames): Decode {
  return (bytes) => {
    const { vaa, route, message } = messages.readBytes(bytes)
    return toTransfer(name, bytes, { vaa, digest: message.digest }, { chainNames, targetChain: route.to })
  }
}

export interface PluginEndpointOptions {
  readonly chain: ContractReader
  /** Time of the chain's latest block, seconds since the epoch. */
  readonly clock: () => number
  readonly chainNames: ChainNames
  readonly verify: (message: Uint8Array) => Promise<void>
}

/** A message without a route is declined, because the config may name a route for it later. */
const policy = { ...signedRefusals, PAYLOAD_KIND: { kind: 'declined' } } as const

export function createPluginEndpoint<C>(plugin: Plugin<C>, messages: PluginMessages<C>, options: PluginEndpointOptions): Endpoint {
  const { chain, clock, verify } = options
  const { name, routes, stages, delivered, next, reverts = {}, parties } = plugin
  const [firstStage = ''] = Object.keys(stages)

  function stageOf(stage: string): Stage<C> {
    const found = stages[stage]
    if (found) return found
    throw new RelayerError('INPUT_INVALID', { detail: `The bridge ${name} has no stage ${stage}.` })
  }

  async function check(transfer: Transfer): Promise<void> {
    const { vaa, message, route } = messages.read(transfer.message)
    demandSame(transfer, { vaa, digest: message.digest })
    if (route.to !== chain.name) throw new RelayerError('PAYLOAD_KIND', { facts: { chain: chain.name, target: route.to } })
    await verify(message.bytes)
  }

  /** False for a message that the config no longer has a route for. */
  async function isShown({ message: text }: Transfer, at: Parameters<Endpoint['delivered']>[1], stage?: Stage<C>): Promise<boolean> {
    const own = unlessForeign(() => messages.read(text))
    return own ? allShow(chain, (stage?.effect ?? delivered)(own.message), at) : false
  }

  return {
    chain: chain.name,
    verify: (message) => toVerdict(verify(message), signedRefusals),
    validate: (transfer) => toVerdict(check(transfer), policy),
    delivered: (transfer, at) => isShown(transfer, at),
    // A view shows that a message was delivered, but not by whom.
    findDelivery: async () => undefined,
    delivery({ message: text }, stage = firstStage) {
      const { message } = messages.read(text)
      const { call, revertsOnceDone } = stageOf(stage)
      const { recipient, token } = parties(message)
      return {
        async call() {
          const { contract, ...rest } = call(message)
          return { to: contract, data: encodeCall(rest), value: '0' }
        },
        parties: { bridge: name, targetChain: chain.name, recipient, token },
        revertsOnceDelivered: revertsOnceDone,
      }
    },
    ...(next && {
      stages: {
        async next({ message: text }: Transfer): Promise<NextStage> {
          const answer = await next(messages.read(text).message, { now: clock(), read: (view) => readView(chain, view, 'latest') })
          if ('stage' in answer) return { kind: 'stage', stage: answer.stage }
          if ('never' in answer) return { kind: 'never', code: 'DELIVERY_REVERTED', reason: answer.never }
          return { kind: 'wait', code: 'DELIVERY_NOT_DUE', reason: answer.wait, opensAt: answer.opensAt }
        },
        passed: (transfer: Transfer, stage: string, at: Parameters<Endpoint['delivered']>[1]) => isShown(transfer, at, stageOf(stage)),
      },
    }),
    calls: callsOf(routes.filter(({ to }) => to === chain.name)),
    proveCall: createProveCall({ ...options, routes }),
    explainRevert: ({ data, reason }) => reverts[data.slice(0, 10).toLowerCase()] ?? { kind: 'unknown', code: 'DELIVERY_REVERTED', reason },
    // Receivers share no event, so only the views show an effect.
    hasEffect: ({ status }) => (status === 'success' ? undefined : false),
  }
}

function unlessForeign<T>(readMessage: () => T): T | undefined {
  try {
    return readMessage()
  } catch (error) {
    if (error instanceof RelayerError && error.code === 'PAYLOAD_KIND') return undefined
    throw error
  }
}
