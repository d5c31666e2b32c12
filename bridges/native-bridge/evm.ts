import { decodeBase64 } from 'ethers'
import type { EvmChain } from '../../chains/evm/index.ts'
import type { Revert } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { findDelivery } from '../kit/logs.ts'
import { toVerdict } from '../kit/verdict.ts'
import type { Endpoint, RevertMeaning } from '../port.ts'
import { completionIntent, createProveCall, createSharedCalls } from './calls.ts'
import { nativeBridgeAbi } from './contracts.ts'
import { checkAmount, checkSame, createDecoder, createDelivered, hasCompletion } from './decoded.ts'
import { completionLog } from './events.ts'
import type { VerifiedMessages } from '../kit/verified-messages.ts'
import { createInbound } from './inbound.ts'
import { secondsOf } from './inbound-limits.ts'
import { explainRevert } from './reverts.ts'
import { createRoutes } from './routes.ts'
import { createVerifier, type ReadableRoute, refusals } from './verify.ts'

export interface EvmEndpointOptions {
  readonly chain: Pick<EvmChain, 'name' | 'heads' | 'call' | 'logs' | 'transactionSender' | 'nodes'>
  readonly routes: readonly ReadableRoute[]
  readonly verified?: VerifiedMessages | undefined
}

export type NativeEndpoint = ReturnType<typeof createEvmEndpoint>

/** Throws CONFIG_INVALID (routes that share a contract, or end elsewhere). */
export function createEvmEndpoint({ chain, routes: given, verified }: EvmEndpointOptions) {
  const stray = given.find(({ targetChain }) => targetChain !== chain.name)
  if (stray) throw new RelayerError('CONFIG_INVALID', { detail: `A route to ${stray.targetChain} is none to ${chain.name}.` })
  const routes = createRoutes(given.map((route) => ({ ...route, inbound: createInbound(chain, route.targetBridge.toLowerCase()) })))
  const decode = createDecoder(routes)
  const verify = createVerifier(routes, verified)
  const largest = Math.max(0, ...routes.all.map(({ batch = 0 }) => batch))

  return {
    chain: chain.name,
    batches: largest > 0 ? createSharedCalls(decode, largest) : undefined,
    verify: (bytes) => toVerdict(() => verify(bytes), refusals),
    validate: (transfer) =>
      toVerdict(async () => {
        const decoded = decode(transfer)
        checkSame(transfer, decoded)
        // A decline is permanent, so the message must be in the source's table first.
        await verify(decodeBase64(transfer.message))
        checkAmount(decoded)
      }, refusals),
    delivered: createDelivered(chain, decode),
    revertsOnceDelivered: () => true,
    async findDelivery(transfer) {
      const { message, route } = decode(transfer)
      return findDelivery(chain, completionLog(route.targetBridge, message))
    },
    async intent(transfer) {
      const { message, route } = decode(transfer)
      return completionIntent(route.targetBridge, message)
    },
    calls: Object.fromEntries(routes.all.map(({ targetBridge }) => [targetBridge, selectors])),
    proveCall: createProveCall(routes.all, verify),
    /** BRIDGE_CAP or BRIDGE_BUDGET, by the last read limits. Both wait: only the gate parks. */
    explainRevert(revert: Revert, transfer?: Transfer): RevertMeaning {
      if (!transfer) return explainRevert(revert)
      const { message, route } = decode(transfer)
      const limits = route.inbound.last
      return explainRevert(revert, limits && { limits, amount: message.amount, now: secondsOf(chain) })
    },
    parties(transfer) {
      const { recipient, sourceNetworkId, sourceBridge } = decode(transfer).message
      return { recipient: `0x${recipient.slice(26)}`, token: `${sourceNetworkId}/${sourceBridge.slice(2).padStart(64, '0')}` }
    },
    hasEffect: (receipt, transfer) => hasCompletion(receipt, decode(transfer)),
    async reserve(transfer, relayer) {
      const { message, route } = decode(transfer)
      return route.inbound.reserve(message, relayer)
    },
    release(transfer) {
      const { message, route } = decode(transfer)
      route.inbound.release(message.id)
    },
    async unauthorized(relayer) {
      const may = await Promise.all(routes.all.map(({ inbound }) => inbound.mayComplete(relayer)))
      const closed = routes.all.flatMap(({ targetBridge }, index) => (may[index] ? [] : [targetBridge]))
      if (closed.length === 0) return undefined
      return { everywhere: closed.length === may.length, reason: `grant RELAYER_ROLE of ${closed.join(', ')} to ${relayer}` }
    },
  } satisfies Endpoint
}

const selectors = ['completeBridgeTransfer', 'batchCompleteBridgeTransfer'].map((name) => nativeBridgeAbi.getFunction(name)?.selector ?? '')
