import { decodeBase64 } from 'ethers'
import type { EvmChain } from '../../chains/evm/index.ts'
import type { Revert } from '../../chains/port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { findDelivery } from '../kit/find-delivery.ts'
import { toVerdict } from '../kit/verdict.ts'
import type { Endpoint, RevertMeaning } from '../port.ts'
import { completionIntent, createSharedCalls } from './batch.ts'
import { nativeBridgeAbi } from './contracts.ts'
import { createDelivered, hasCompletion } from './delivered.ts'
import { completionLog } from './events.ts'
import type { GoodMessages } from '../kit/good-messages.ts'
import { createInbound } from './inbound.ts'
import { createJustify } from './justify.ts'
import { secondsOf } from './limits.ts'
import { checkAmount, checkSame, createOpen } from './open.ts'
import { explainRevert } from './reverts.ts'
import { createRoutes } from './routes.ts'
import { createVerifier, type ReadableRoute, refusals } from './verify.ts'

/** The native bridge on one EVM chain, as values of the config. */
export interface EvmEndpointOptions {
  readonly chain: Pick<EvmChain, 'name' | 'heads' | 'call' | 'logs' | 'transactionSender' | 'nodes'>
  /** The routes that end at this chain, each with its source chain connected. */
  readonly routes: readonly ReadableRoute[]
  /** What was found good lately, shared with the streams of this process. Absent: a memory of its own. */
  readonly good?: GoodMessages
}

export type NativeEndpoint = ReturnType<typeof createEvmEndpoint>

/** Throws CONFIG_INVALID (routes that share a contract, or end elsewhere). */
export function createEvmEndpoint({ chain, routes: given, good }: EvmEndpointOptions) {
  const stray = given.find(({ targetChain }) => targetChain !== chain.name)
  if (stray) throw new RelayerError('CONFIG_INVALID', { detail: `A route to ${stray.targetChain} is none to ${chain.name}.` })
  const routes = createRoutes(given.map((route) => ({ ...route, inbound: createInbound(chain, route.targetBridge.toLowerCase()) })))
  const open = createOpen(routes)
  const verify = createVerifier(routes, good)
  const largest = Math.max(0, ...routes.all.map(({ batch = 0 }) => batch))

  return {
    chain: chain.name,
    batches: largest > 0 ? createSharedCalls(open, largest) : undefined,
    verify: (bytes) => toVerdict(() => verify(bytes), refusals),
    validate: (transfer) =>
      toVerdict(async () => {
        const opened = open(transfer)
        checkSame(transfer, opened)
        // A decline is recorded: only what the source itself recorded is declined.
        await verify(decodeBase64(transfer.message))
        checkAmount(opened)
      }, refusals),
    delivered: createDelivered(chain, open),
    revertsOnceDelivered: () => true,
    async findDelivery(transfer) {
      const { message, route } = open(transfer)
      return findDelivery(chain, completionLog(route.targetBridge, message))
    },
    async intent(transfer) {
      const { message, route } = open(transfer)
      return completionIntent(route.targetBridge, message)
    },
    calls: Object.fromEntries(routes.all.map(({ targetBridge }) => [targetBridge, selectors])),
    justify: createJustify(routes.all, verify),
    /** The code tells an amount that never fits from a spent budget, by the limits that `reserve` last read; both wait: the gate parks. */
    explainRevert(revert: Revert, transfer?: Transfer): RevertMeaning {
      if (!transfer) return explainRevert(revert)
      const { message, route } = open(transfer)
      const limits = route.inbound.last
      return explainRevert(revert, limits && { limits, amount: message.amount, now: secondsOf(chain) })
    },
    parties(transfer) {
      const { recipient, sourceNetworkId, sourceBridge } = open(transfer).message
      // The token is the only one of its source contract.
      return { recipient: `0x${recipient.slice(26)}`, token: `${sourceNetworkId}/${sourceBridge.slice(2).padStart(64, '0')}` }
    },
    hasEffect: (receipt, transfer) => hasCompletion(receipt, open(transfer)),
    async reserve(transfer, relayer) {
      const { message, route } = open(transfer)
      return route.inbound.reserve(message, relayer)
    },
    release(transfer) {
      const { message, route } = open(transfer)
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
