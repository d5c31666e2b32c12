import { decodeBase64 } from 'ethers'
import type { EvmChain } from '../../chains/evm/index.ts'
import type { At, Receipt, Revert } from '../../chains/port.ts'
import { RelayerError } from '../../domain/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Endpoint, RevertMeaning, SharedCalls } from '../port.ts'
import { batchIntent, completionIntent } from './batch.ts'
import { nativeBridgeAbi, readInboundNonce } from './contracts.ts'
import { showsCompletion } from './events.ts'
import { createFindDelivery } from './find-delivery.ts'
import type { GoodMessages } from './good-messages.ts'
import { createInbound, type Inbound } from './inbound.ts'
import { secondsOf } from './limits.ts'
import { type NativeMessage, readMessage, toTransfer } from './message.ts'
import { explainRevert } from './reverts.ts'
import { createRoutes } from './routes.ts'
import { createVerifier, type ReadableRoute, toVerdict } from './verify.ts'

/** The native bridge on one EVM chain, as values of the config. */
export interface EvmEndpointOptions {
  readonly chain: Pick<EvmChain, 'name' | 'heads' | 'call' | 'logs' | 'transactionSender' | 'nodes'>
  /** The routes that end at this chain, each with its source chain connected. */
  readonly routes: readonly ReadableRoute[]
  /** What was found good lately, shared with the streams of this process. Absent: a memory of its own. */
  readonly good?: GoodMessages
}

/** Where most nodes are asked, for what one node says of its own state. */
const quorumOf = { latest: 'agreed-latest', finalized: 'agreed' } as const

type Kept = 'reserve' | 'release' | 'unauthorized'

/** The port, and what this bridge knows beyond it. */
export interface NativeEndpoint extends Omit<Endpoint, Kept>, Required<Pick<Endpoint, Kept>> {
  /** @param transfer its code tells an amount that never fits from a spent budget, by the limits that `reserve` last read; both wait: the gate parks */
  explainRevert(revert: Revert, transfer?: Transfer): RevertMeaning
}

interface Opened {
  readonly message: NativeMessage
  readonly route: ReadableRoute
  readonly inbound: Inbound
}

/** Throws CONFIG_INVALID (routes that share a contract, or end elsewhere). */
export function createEvmEndpoint({ chain, routes: given, good }: EvmEndpointOptions): NativeEndpoint {
  const stray = given.find(({ targetChain }) => targetChain !== chain.name)
  if (stray) throw new RelayerError('CONFIG_INVALID', { detail: `A route to ${stray.targetChain} is none to ${chain.name}.` })
  const routes = createRoutes(given)
  const verifier = createVerifier({ routes, ...(good && { good }) })
  const findDelivery = createFindDelivery(chain)
  const inbounds = new Map(routes.all.map(({ targetBridge }) => [targetBridge, createInbound(chain, targetBridge)]))
  /** Who keeps a gate asks for the same transfers block after block. */
  const known = new WeakMap<Transfer, Opened>()

  function opened(transfer: Transfer): Opened {
    const before = known.get(transfer)
    if (before) return before
    const message = readMessage(decodeBase64(transfer.message))
    const route = routes.of(message)
    const inbound = inbounds.get(route.targetBridge)
    if (!inbound) throw new RelayerError('INTERNAL', { detail: `No way into ${route.targetBridge} is kept.` })
    const now = { message, route, inbound }
    known.set(transfer, now)
    return now
  }

  /** The message says everything that the transfer says: one of another transfer is refused. */
  function checkSame(transfer: Transfer): void {
    const { message, route } = opened(transfer)
    const expected = toTransfer(route, message)
    const names = ['bridge', 'sourceChain', 'targetChain', 'emitter', 'sequence', 'digest'] as const
    const different = names.find((name) => transfer[name] !== expected[name])
    if (different === undefined) return
    throw new RelayerError('MESSAGE_MISMATCH', { facts: { field: different, transfer: transfer[different], message: expected[different] } })
  }

  /**
   * Throws NATIVE_NONCE_MISMATCH: an alarm, for the route. The id includes the nonce, so that an honest contract can't do that; what one node says of
   * it alone is asked of the others, since the error parks whoever meets it. Throws NODES_DISAGREE.
   */
  async function delivered(transfer: Transfer, at: At): Promise<boolean> {
    const { message, route } = opened(transfer)
    const nonceAt = (state: At) => readInboundNonce(chain, route.targetBridge, message.id, state)
    const isOdd = (nonce: bigint) => nonce !== 0n && nonce !== message.nonce
    const first = await nonceAt(at)
    const nonce = isOdd(first) && at in quorumOf ? await nonceAt(quorumOf[at as keyof typeof quorumOf]) : first
    if (isOdd(nonce)) {
      const facts = { chain: chain.name, id: message.id, nonce: String(message.nonce), completedUnder: String(nonce) }
      throw new RelayerError('NATIVE_NONCE_MISMATCH', { facts })
    }
    return nonce !== 0n
  }

  function hasEffect(receipt: Receipt, transfer: Transfer): boolean {
    const { message, route } = opened(transfer)
    const { block, hash: transactionHash } = receipt
    const shows = receipt.logs.some(
      (log) => log.address.toLowerCase() === route.targetBridge && showsCompletion({ ...log, block, transactionHash }, message),
    )
    return receipt.status === 'success' && shows
  }

  const largest = Math.max(0, ...routes.all.map(({ batch = 0 }) => batch))
  const batches: SharedCalls = {
    largest,
    groupOf(transfer) {
      const { targetBridge: key, batch: most } = opened(transfer).route
      return most === undefined ? undefined : { key, most }
    },
    async intent(transfers) {
      const [first] = transfers
      if (!first) throw new RelayerError('INPUT_INVALID', { detail: 'A batch needs a transfer.' })
      const messages = transfers.map((transfer) => opened(transfer).message)
      return batchIntent(opened(first).route.targetBridge, messages)
    },
    fitting(transfers) {
      const [first] = transfers
      return first ? opened(first).inbound.fitting(transfers, (transfer) => opened(transfer).message) : []
    },
  }

  return {
    chain: chain.name,
    ...(largest > 0 && { batches }),
    verify: (bytes) => toVerdict(() => verifier.verify(bytes)),
    validate: (transfer) =>
      toVerdict(async () => {
        checkSame(transfer)
        await verifier.verify(decodeBase64(transfer.message))
      }),
    delivered,
    async findDelivery(transfer) {
      const { message, route } = opened(transfer)
      return findDelivery(route.targetBridge, message)
    },
    async intent(transfer) {
      const { message, route } = opened(transfer)
      return completionIntent(route.targetBridge, message)
    },
    calls: Object.fromEntries(routes.all.map(({ targetBridge }) => [targetBridge, selectors])),
    explainRevert(revert, transfer) {
      if (!transfer) return explainRevert(revert)
      const { message, inbound } = opened(transfer)
      return explainRevert(revert, inbound.last && { limits: inbound.last, amount: message.amount, now: secondsOf(chain) })
    },
    /** The token: the only one of its source contract, so called `<source network id>/<source contract, 64 hex digits>`. */
    parties(transfer) {
      const { message } = opened(transfer)
      const token = `${message.sourceNetworkId}/${message.sourceBridge.slice(2).padStart(64, '0')}`
      return { recipient: `0x${message.recipient.slice(26)}`, token }
    },
    hasEffect,
    async reserve(transfer, relayer) {
      const { message, inbound } = opened(transfer)
      return inbound.reserve(message, relayer)
    },
    release(transfer) {
      const { message, inbound } = opened(transfer)
      inbound.release(message.id)
    },
    async unauthorized(relayer) {
      const may = await Promise.all(
        [...inbounds].map(async ([contract, { mayComplete }]) => [contract, await mayComplete(relayer)] as const),
      )
      const closed = may.flatMap(([contract, yes]) => (yes ? [] : [contract]))
      if (closed.length === 0) return undefined
      return { everywhere: closed.length === may.length, reason: `grant RELAYER_ROLE of ${closed.join(', ')} to ${relayer}` }
    },
  }
}

const selectors = ['completeBridgeTransfer', 'batchCompleteBridgeTransfer'].flatMap((name) => {
  const selector = nativeBridgeAbi.getFunction(name)?.selector
  return selector === undefined ? [] : [selector]
})
