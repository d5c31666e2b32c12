import { decodeBase64 } from 'ethers'
import type { EvmChain } from '../../chains/evm/index.ts'
import type { At, Receipt, Revert } from '../../chains/port.ts'
import { RelayerError } from '../../domain/errors.ts'
import type { Transfer } from '../../domain/transfer.ts'
import type { Endpoint, Gate, RevertMeaning } from '../port.ts'
import { completionIntent } from './batch.ts'
import { nativeBridgeAbi, readInboundNonce } from './contracts.ts'
import { completedTopic, readCompleted } from './events.ts'
import { createFindDelivery } from './find-delivery.ts'
import { gateOf } from './gates.ts'
import type { GoodMessages } from './good-messages.ts'
import { createLimits, secondsOf } from './limits.ts'
import { type NativeMessage, readMessage, toTransfer } from './message.ts'
import { explainRevert } from './reverts.ts'
import { createRoutes } from './routes.ts'
import { createVerifier, type ReadableRoute, toVerdict } from './verify.ts'

/** The native bridge on one EVM chain, as values of the config. */
export interface EvmEndpointOptions {
  readonly chain: Pick<EvmChain, 'name' | 'heads' | 'call' | 'logs' | 'transactionSender'>
  /** The routes that end at this chain, each with its source chain connected. */
  readonly routes: readonly ReadableRoute[]
  /** What was found good lately, shared with the streams of this process. Absent: a memory of its own. */
  readonly good?: GoodMessages
}

/** The port, and what this bridge knows beyond it. */
export interface NativeEndpoint extends Endpoint {
  /** The gate that a transfer stands before if this account delivers it. One tick of reads. Throws what reads throw. */
  gate(transfer: Transfer, relayer: string): Promise<Gate>
  /** @param transfer tells an amount that never fits from a spent budget, by the limits that `gate` last read; without it both wait */
  explainRevert(revert: Revert, transfer?: Transfer): RevertMeaning
}

/** Throws CONFIG_INVALID (routes that share a contract, or end elsewhere). */
export function createEvmEndpoint({ chain, routes: given, good }: EvmEndpointOptions): NativeEndpoint {
  const stray = given.find(({ targetChain }) => targetChain !== chain.name)
  if (stray) throw new RelayerError('CONFIG_INVALID', { detail: `A route to ${stray.targetChain} is none to ${chain.name}.` })
  const routes = createRoutes(given)
  const verifier = createVerifier({ routes, ...(good && { good }) })
  const findDelivery = createFindDelivery(chain)
  const limits = new Map(routes.all.map(({ targetBridge }) => [targetBridge, createLimits(chain, targetBridge)]))

  function opened(transfer: Transfer): { readonly message: NativeMessage; readonly route: ReadableRoute } {
    const message = readMessage(decodeBase64(transfer.message))
    return { message, route: routes.of(message) }
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

  /** Throws NATIVE_NONCE_MISMATCH: an alarm, for the route. The id includes the nonce, so that an honest contract can't do that. */
  async function delivered(transfer: Transfer, at: At): Promise<boolean> {
    const { message, route } = opened(transfer)
    const nonce = await readInboundNonce(chain, route.targetBridge, message.id, at)
    if (nonce !== 0n && nonce !== message.nonce) {
      const facts = { chain: chain.name, id: message.id, nonce: String(message.nonce), completedUnder: String(nonce) }
      throw new RelayerError('NATIVE_NONCE_MISMATCH', { facts })
    }
    return nonce !== 0n
  }

  function hasEffect(receipt: Receipt, transfer: Transfer): boolean {
    const { message, route } = opened(transfer)
    const shows = receipt.logs.some((log) => {
      const [topic, id] = log.topics.map((each) => each.toLowerCase())
      if (log.address.toLowerCase() !== route.targetBridge || topic !== completedTopic || id !== message.id) return false
      return readCompleted({ ...log, block: receipt.block, transactionHash: receipt.hash }).transfer.nonce === message.nonce
    })
    return receipt.status === 'success' && shows
  }

  return {
    chain: chain.name,
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
      const { message, route } = opened(transfer)
      const last = limits.get(route.targetBridge)?.last
      return explainRevert(revert, last && { limits: last, amount: message.amount, now: secondsOf(chain) })
    },
    /** The token: the only one of its source contract, so called `<source network id>/<source contract, 64 hex digits>`. */
    parties(transfer) {
      const { message } = opened(transfer)
      const token = `${message.sourceNetworkId}/${message.sourceBridge.slice(2).padStart(64, '0')}`
      return { recipient: `0x${message.recipient.slice(26)}`, token }
    },
    hasEffect,
    async gate(transfer, relayer) {
      const { message, route } = opened(transfer)
      const reader = limits.get(route.targetBridge) ?? createLimits(chain, route.targetBridge)
      return gateOf(await reader.read(relayer), message.amount, secondsOf(chain))
    },
  }
}

const selectors = ['completeBridgeTransfer', 'batchCompleteBridgeTransfer'].flatMap((name) => {
  const selector = nativeBridgeAbi.getFunction(name)?.selector
  return selector === undefined ? [] : [selector]
})
