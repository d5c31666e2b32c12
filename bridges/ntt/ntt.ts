import type { ErrorCode } from '../../domain/catalogue/errors.ts'
import type { BridgeName, ChainName } from '../../domain/transfer/transfer.ts'
import { selectorOf } from '../kit/calls.ts'
import type { BuiltInPlugin } from '../kit/plugin-bridge.ts'
import type { Call, CallRule, Route, Shown } from '../kit/plugin.ts'
import type { ChainNames } from '../kit/signed-messages.ts'
import type { RevertMeaning } from '../port.ts'
import { type NttMessage, readNttMessage, recipientManagerAt, targetChainAt } from './message.ts'

export const ntt = 'ntt' satisfies BridgeName

/** 64 lower-case hex digits each. Transceivers with the same index on two chains are peers. */
export interface NttPeer {
  readonly manager: string
  readonly transceivers: readonly string[]
}

export interface NttDeployment {
  /** Chains without a node may be included. */
  readonly peers: Readonly<Record<ChainName, NttPeer>>
}

type Content = NttMessage & Place

const queueView = 'getInboundQueuedTransfer(bytes32)'
const queueReturns = 'tuple(uint72,uint64,address)'
const noQueue = [[0n, 0n, `0x${'0'.repeat(40)}`]]
const complete = 'completeInboundQueuedTransfer(bytes32)'
const receive = 'receiveMessage(bytes)'

/** The end of the year 9999, seconds. A node can answer later times, which are no dates. */
const lastSecond = 253_402_300_799

const toAddress = (word: string) => `0x${word.slice(24)}`

interface Place extends Pick<NttMessage, 'sourceManager'> {
  readonly manager: string
  /** The manager, in the form of a deny order's token, because an NTT message does not name the token of the target. */
  readonly token: string
  readonly transceiver: string
  readonly place: number
  readonly isOnly: boolean
}

function placesOf(deployments: readonly NttDeployment[], chainNames: ChainNames): ReadonlyMap<Route, Place> {
  const numbers = new Map([...chainNames].map(([number, name]) => [name, number]))
  const places = new Map<Route, Place>()
  for (const { peers } of deployments)
    for (const [source, from] of Object.entries(peers))
      for (const [to, target] of Object.entries(peers))
        for (const [place, emitter] of from.transceivers.entries()) {
          const [number, word] = [numbers.get(to), target.transceivers[place]]
          if (source === to || number === undefined || word === undefined) continue
          const [manager, transceiver] = [toAddress(target.manager), toAddress(word)]
          const isOnly = target.transceivers.length === 1
          const completion: CallRule = {
            ...{ contract: manager, function: complete },
            proof: { view: queueView, returns: queueReturns, isNot: noQueue },
          }
          const calls: readonly CallRule[] = [{ contract: transceiver, function: receive, proof: 'message' }, completion]
          const where = { [recipientManagerAt]: target.manager, [targetChainAt]: number.toString(16).padStart(4, '0') }
          places.set(
            { from: [{ source, emitter }], where, to, calls },
            { sourceManager: from.manager, manager, token: `${number}/${target.manager}`, transceiver, place, isOnly },
          )
        }
  return places
}

const impossible = (reason: string): RevertMeaning => ({ kind: 'permanent', code: 'DELIVERY_IMPOSSIBLE', reason })
const waits = (code: ErrorCode, reason: string): RevertMeaning => ({ kind: 'wait', code, reason })

/** Errors of NttManager, WormholeTransceiver and TransceiverStructs 2.0.0, and of OpenZeppelin's ERC20. */
const meanings: Readonly<Record<string, RevertMeaning>> = {
  // The transceiver has consumed the message. `next` then finds out what is left to do.
  'TransferAlreadyCompleted(bytes32)': { kind: 'delivered' },
  // Another account has completed the transfer.
  'InboundQueuedTransferNotFound(bytes32)': { kind: 'delivered' },
  'InboundQueuedTransferStillQueued(bytes32,uint256)': waits('DELIVERY_NOT_DUE', 'It is still in the queue of the manager.'),
  'RequireContractIsNotPaused()': waits('BRIDGE_PAUSED', 'The NTT manager is paused.'),
  'ERC20InsufficientBalance(address,uint256,uint256)': waits('BRIDGE_POOL_EMPTY', 'The NTT manager has too few tokens.'),
  'InvalidWormholePeer(uint16,bytes32)': impossible('The emitter is not a peer of the transceiver.'),
  'InvalidPeer(uint16,bytes32)': impossible('The source manager is not a peer of the manager.'),
  'UnexpectedRecipientNttManagerAddress(bytes32,bytes32)': impossible('The message is for another manager.'),
  'InvalidTargetChain(uint16,uint16)': impossible('The message is for another chain.'),
  'NotAnEvmAddress(bytes32)': impossible('The recipient is not an address of this chain.'),
  'IncorrectPrefix(bytes4)': impossible('The transceiver does not know this kind of message.'),
  'LengthMismatch(uint256,uint256)': impossible('The lengths in the message contradict each other.'),
}

const reverts = Object.fromEntries(Object.entries(meanings).map(([error, meaning]) => [selectorOf(error), meaning]))

/**
 * Seconds between the due times of a queued transfer's messages. One call pays the whole transfer, so usually only the
 * first message's call is sent.
 */
const headStart = 120

/**
 * Delivers transfers of NTT. If a transfer exceeds the inbound limit, NttManager consumes its message and queues the
 * transfer, which a second call pays later.
 */
export function createNtt(deployments: readonly NttDeployment[], chainNames: ChainNames): BuiltInPlugin<Content> {
  const places = placesOf(deployments, chainNames)
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
    // With several transceivers, no first stage is named, because another transceiver's message may already have made
    // the manager pay.
    first: ({ content }) => (content.isOnly ? 'receive' : undefined),
    async next({ digest, content }, { now, read }) {
      const [[isConsumed], [queue]] = await Promise.all([read(consumed(content, digest)), read(queued(content))])
      const { manager, id, place } = content
      const [, since] = queue as readonly [bigint, bigint]
      if (since === 0n) {
        if (isConsumed !== true) return { stage: 'receive' }
        const [isApproved] = await read({ contract: manager, view: 'isMessageApproved(bytes32)', args: [id], returns: 'bool' })
        if (isApproved === true) return { wait: 'The threshold was lowered: anyone may call executeMsg of the manager.' }
        return { wait: 'The manager waits for the attestations of other transceivers.' }
      }
      const [seconds] = await read({ contract: manager, view: 'rateLimitDuration()', args: [], returns: 'uint64' })
      const opensAt = Math.min(lastSecond, Number(since) + Number(seconds) + place * headStart)
      if (opensAt <= now) return { stage: 'complete' }
      return { wait: `It is in the queue of the manager until ${new Date(opensAt * 1_000).toISOString()}.`, opensAt }
    },
    // It does not matter whether the message is consumed: some messages of a paid transfer may stay unused.
    delivered: ({ content }) => [bool(content.manager, 'isMessageExecuted(bytes32)', content.id), { ...queued(content), is: noQueue }],
    reverts,
    parties: ({ content: { recipient, token, amount } }) => ({ recipient, token, amount }),
  }
}
