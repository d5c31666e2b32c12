import { decodeBase64 } from 'ethers'
import type { EvmChain } from '../../chains/evm/index.ts'
import type { Revert } from '../../chains/port.ts'
import { RelayerError } from '../../domain/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { findDelivery } from '../common/find-delivery.ts'
import { toVerdict } from '../common/verdict.ts'
import type { Endpoint, RevertMeaning } from '../port.ts'
import { completionIntent, createSharedCalls } from './batch.ts'
import { nativeBridgeAbi } from './contracts.ts'
import { createDelivered, hasCompletion } from './delivered.ts'
import { completionLog } from './events.ts'
import type { GoodMessages } from '../common/good-messages.ts'
import { createInbound } from './inbound.ts'
import { secondsOf } from './limits.ts'
import { createOpen, type Open } from './open.ts'
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

type Limited = 'reserve' | 'release' | 'unauthorized'

/** The port, and what this bridge knows beyond it. */
export interface NativeEndpoint extends Omit<Endpoint, Limited>, Required<Pick<Endpoint, Limited>> {
  /** @param transfer its code tells an amount that never fits from a spent budget, by the limits that `reserve` last read; both wait: the gate parks */
  explainRevert(revert: Revert, transfer?: Transfer): RevertMeaning
}

/** Throws CONFIG_INVALID (routes that share a contract, or end elsewhere). */
export function createEvmEndpoint({ chain, routes: given, good }: EvmEndpointOptions): NativeEndpoint {
  const stray = given.find(({ targetChain }) => targetChain !== chain.name)
  if (stray) throw new RelayerError('CONFIG_INVALID', { detail: `A route to ${stray.targetChain} is none to ${chain.name}.` })
  const routes = createRoutes(given)
  const inbounds = new Map(routes.all.map(({ targetBridge }) => [targetBridge, createInbound(chain, targetBridge)]))
  const open = createOpen(routes, inbounds)
  const { verify } = createVerifier({ routes, ...(good && { good }) })
  const largest = Math.max(0, ...routes.all.map(({ batch = 0 }) => batch))

  return {
    chain: chain.name,
    ...(largest > 0 && { batches: createSharedCalls(open, largest) }),
    verify: (bytes) => toVerdict(() => verify(bytes), refusals),
    validate: (transfer) =>
      toVerdict(() => {
        open.checkSame(transfer)
        return verify(decodeBase64(transfer.message))
      }, refusals),
    delivered: createDelivered(chain, open),
    async findDelivery(transfer) {
      const { message, route } = open.of(transfer)
      return findDelivery(chain, completionLog(route.targetBridge, message))
    },
    async intent(transfer) {
      const { message, route } = open.of(transfer)
      return completionIntent(route.targetBridge, message)
    },
    calls: Object.fromEntries(routes.all.map(({ targetBridge }) => [targetBridge, selectors])),
    explainRevert(revert, transfer) {
      if (!transfer) return explainRevert(revert)
      const { message, inbound } = open.of(transfer)
      return explainRevert(revert, inbound.last && { limits: inbound.last, amount: message.amount, now: secondsOf(chain) })
    },
    parties: (transfer) => partiesOf(open.of(transfer)),
    hasEffect: (receipt, transfer) => hasCompletion(receipt, open.of(transfer)),
    async reserve(transfer, relayer) {
      const { message, inbound } = open.of(transfer)
      return inbound.reserve(message, relayer)
    },
    release(transfer) {
      const { message, inbound } = open.of(transfer)
      inbound.release(message.id)
    },
    async unauthorized(relayer) {
      const contracts = [...inbounds]
      const may = await Promise.all(contracts.map(([, { mayComplete }]) => mayComplete(relayer)))
      const closed = contracts.flatMap(([contract], index) => (may[index] ? [] : [contract]))
      if (closed.length === 0) return undefined
      return { everywhere: closed.length === may.length, reason: `grant RELAYER_ROLE of ${closed.join(', ')} to ${relayer}` }
    },
  }
}

/** The token: the only one of its source contract, so called `<source network id>/<source contract, 64 hex digits>`. */
function partiesOf({ message }: Open): ReturnType<Endpoint['parties']> {
  const token = `${message.sourceNetworkId}/${message.sourceBridge.slice(2).padStart(64, '0')}`
  return { recipient: `0x${message.recipient.slice(26)}`, token }
}

const selectors = ['completeBridgeTransfer', 'batchCompleteBridgeTransfer'].flatMap((name) => {
  const selector = nativeBridgeAbi.getFunction(name)?.selector
  return selector === undefined ? [] : [selector]
})
