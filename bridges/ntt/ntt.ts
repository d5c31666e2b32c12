import type { BridgeName, ChainName } from '../../domain/transfer/transfer.ts'
import type { Call, CallRule, Plugin, Route, Shown } from '../kit/plugin.ts'
import { type NttMessage, readNttMessage, recipientManagerAt, targetChainAt } from './message.ts'

export const ntt = 'ntt' satisfies BridgeName

/** A manager and its Wormhole transceivers, 64 lower-case hex digits. Those at one place of two chains are peers. */
export interface NttPeer {
  readonly manager: string
  readonly transceivers: readonly string[]
}

/** One token. */
export interface NttDeployment {
  /** Also chains without a node. */
  readonly peers: Readonly<Record<ChainName, NttPeer>>
}

type Content = NttMessage & Place

const queueView = 'getInboundQueuedTransfer(bytes32)'
const queueReturns = 'tuple(uint72,uint64,address)'
const noQueue = [[0n, 0n, `0x${'0'.repeat(40)}`]]
const complete = 'completeInboundQueuedTransfer(bytes32)'
const receive = 'receiveMessage(bytes)'

const toAddress = (word: string) => `0x${word.slice(24)}`

interface Place extends Pick<NttMessage, 'sourceManager'> {
  /** Of the target chain, 0x. */
  readonly manager: string
  readonly transceiver: string
}

function placesOf(deployments: readonly NttDeployment[], numbers: ReadonlyMap<ChainName, number>): ReadonlyMap<Route, Place> {
  const places = new Map<Route, Place>()
  for (const { peers } of deployments)
    for (const [source, from] of Object.entries(peers))
      for (const [to, target] of Object.entries(peers))
        for (const [place, emitter] of from.transceivers.entries()) {
          const [number, word] = [numbers.get(to), target.transceivers[place]]
          if (source === to || number === undefined || word === undefined) continue
          const [manager, transceiver] = [toAddress(target.manager), toAddress(word)]
          const completion: CallRule = {
            ...{ contract: manager, function: complete },
            proof: { view: queueView, returns: queueReturns, isNot: noQueue },
          }
          const calls: readonly CallRule[] = [{ contract: transceiver, function: receive, proof: 'message' }, completion]
          const where = { [recipientManagerAt]: target.manager, [targetChainAt]: number.toString(16).padStart(4, '0') }
          places.set({ from: [{ source, emitter }], where, to, calls }, { sourceManager: from.manager, manager, transceiver })
        }
  return places
}

const reverts: Plugin<Content>['reverts'] = {
  // TransferAlreadyCompleted(bytes32) of the transceiver.
  '0xb4c3b00c': { kind: 'delivered' },
  // InboundQueuedTransferNotFound(bytes32): completed by someone else.
  '0xc06f2bc0': { kind: 'delivered' },
  // InboundQueuedTransferStillQueued(bytes32,uint256).
  '0xe5b9ce80': { kind: 'wait', code: 'DELIVERY_NOT_DUE', reason: 'It is still in the queue of the manager.' },
  // RequireContractIsNotPaused().
  '0x13c7a1e6': { kind: 'wait', code: 'BRIDGE_PAUSED', reason: 'The NTT manager or its transceiver is paused.' },
}

/**
 * Native token transfers with Wormhole's transceiver (NttManager and WormholeTransceiver of
 * wormhole-foundation/native-token-transfers). Above its inbound limit the manager queues a transfer: the message is
 * consumed, and a second call pays after `rateLimitDuration`.
 */
export function createNtt(deployments: readonly NttDeployment[], numbers: ReadonlyMap<ChainName, number>): Plugin<Content> {
  const places = placesOf(deployments, numbers)
  const queued = ({ manager, id }: Content) => ({ contract: manager, view: queueView, args: [id], returns: queueReturns })
  const bool = (contract: string, view: string, argument: string): Shown => ({
    contract,
    view,
    args: [argument],
    returns: 'bool',
    is: [true],
  })
  const consumed = (content: Content, digest: string) => bool(content.transceiver, 'isVAAConsumed(bytes32)', digest)

  return {
    name: ntt,
    routes: [...places.keys()],
    decode({ payload, emitterChain }, route) {
      const place = places.get(route)
      const message = readNttMessage(payload, emitterChain)
      if (!place || !message || message.sourceManager !== place.sourceManager) return undefined
      return { ...message, ...place }
    },
    stages: {
      receive: {
        call: ({ bytes, content }): Call => ({ contract: content.transceiver, function: receive, args: [bytes] }),
        effect: ({ digest, content }) => [consumed(content, digest)],
        revertsOnceDone: true,
      },
      complete: {
        call: ({ content: { manager, id } }): Call => ({ contract: manager, function: complete, args: [id] }),
        revertsOnceDone: true,
      },
    },
    async next({ digest, content }, { now, read }) {
      const [isConsumed] = await read(consumed(content, digest))
      if (isConsumed !== true) return { stage: 'receive' }
      const { manager } = content
      const [[queue], [seconds]] = await Promise.all([
        read(queued(content)),
        read({ contract: manager, view: 'rateLimitDuration()', args: [], returns: 'uint64' }),
      ])
      const [, since] = queue as readonly [bigint, bigint]
      if (since === 0n) return { wait: 'The manager waits for the attestations of other transceivers.' }
      const opensAt = Number(since) + Number(seconds)
      if (opensAt <= now) return { stage: 'complete' }
      return { wait: `It is in the queue of the manager until ${new Date(opensAt * 1_000).toISOString()}.`, opensAt }
    },
    delivered: ({ digest, content }) => [
      consumed(content, digest),
      bool(content.manager, 'isMessageExecuted(bytes32)', content.id),
      { ...queued(content), is: noQueue },
    ],
    reverts,
    parties: ({ content: { recipient, manager, amount } }) => ({ recipient, token: manager, amount }),
  }
}
