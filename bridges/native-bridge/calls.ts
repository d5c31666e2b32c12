import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import type { ProvedSource } from '../port.ts'
import {
  argumentsIn,
  type CompletionArguments,
  completionArguments,
  contentOf,
  type NativeRoute,
  type NativeTransfer,
  transferOfCompletion,
  writeMessage,
} from './message.ts'
import { inTicks } from '../kit/contract-reader.ts'
import { decodeCall, encodeCall, provedBy, selectorOf, unproved } from '../kit/calls.ts'
import { refusals } from './verify.ts'

const complete = 'completeBridgeTransfer(bytes32,bytes32,address,uint256,uint256)'
const completeAll = 'batchCompleteBridgeTransfer(bytes32[],bytes32[],address[],uint256[],uint256[])'
export const selectors = [complete, completeAll].map(selectorOf)
const selector = selectorOf(complete)
const completionForm = /^([0-9a-f]{64})([0-9a-f]{64})0{24}([0-9a-f]{40})([0-9a-f]{64})([0-9a-f]{64})$/

/** Encodes a completion without ethers, which takes a hundred times as long. */
export function encodeCompletion([id, initiator, recipient, amount, nonce]: CompletionArguments): string {
  const word = (value: bigint) => value.toString(16).padStart(64, '0')
  return `${selector}${id.slice(2)}${initiator.slice(2)}${recipient.slice(2).padStart(64, '0')}${word(amount)}${word(nonce)}`.toLowerCase()
}

/** Returns the arguments in lower case. Undefined unless the data is exactly what `encodeCompletion` makes. */
export function decodeCompletion(data: string): CompletionArguments | undefined {
  return data.slice(0, selector.length).toLowerCase() === selector ? argumentsIn(data.slice(selector.length), completionForm) : undefined
}

export function completionIntent(targetBridge: string, transfer: NativeTransfer): Intent {
  return { to: targetBridge.toLowerCase(), data: encodeCompletion(completionArguments(transfer)), value: '0' }
}

/**
 * Makes the call that delivers either all transfers or none. Throws INPUT_INVALID if there is no transfer, or if a
 * transfer is repeated.
 */
export function batchIntent(targetBridge: string, transfers: readonly NativeTransfer[]): Intent {
  const ids = new Set(transfers.map(({ id }) => id))
  if (transfers.length === 0) throw new RelayerError('INPUT_INVALID', { detail: 'A batch needs a transfer.' })
  if (ids.size < transfers.length) throw new RelayerError('INPUT_INVALID', { detail: 'A transfer is in the batch twice.' })
  const rows = transfers.map(completionArguments)
  const columns = ([0, 1, 2, 3, 4] as const).map((column) => rows.map((row) => row[column]))
  return { to: targetBridge.toLowerCase(), data: encodeCall({ function: completeAll, args: columns }), value: '0' }
}

/**
 * Makes `Endpoint.proveCall`: the source's table must show each transfer, because the target accepts any completion by
 * an account with RELAYER_ROLE.
 */
export function createProveCall(routes: readonly NativeRoute[], verify: (message: Uint8Array) => Promise<void>) {
  const byTarget = new Map(routes.map((route) => [route.targetBridge, route]))
  return async function proveCall({ to, data, value }: Intent): Promise<readonly ProvedSource[]> {
    const route = byTarget.get(to.toLowerCase())
    if (!route) throw unproved('It calls no target contract of a route.', { to })
    if (value !== '0') throw unproved('It carries coins.', { to, value })
    const rows = completionsOf(data)
    if (!rows) throw unproved('It is not an exactly encoded completion.', { to, selector: data.slice(0, 10) })
    const transfers = rows.map(transferOfCompletion)
    // The whole batch would revert if a transfer were in it twice.
    const isOnce = new Set(transfers.map(({ id }) => id)).size === transfers.length
    if (!isOnce || transfers.length === 0) throw unproved('It completes no transfer, or it completes one twice.', { to })
    const { sourceBridge } = route
    const sourceNetworkId = BigInt(route.sourceNetworkId)
    const messages = transfers.map((transfer) => ({ ...transfer, sourceNetworkId, sourceBridge }))
    await inTicks(messages, (message) => provedBy(async () => verify(writeMessage(message)), refusals))
    return messages.map((message) => {
      const { recipient, token } = contentOf(message)
      return { sourceChain: route.sourceChain, parties: { recipient, token } }
    })
  }
}

/** Undefined unless the call is exactly encoded. */
function completionsOf(data: string): readonly CompletionArguments[] | undefined {
  const single = decodeCompletion(data)
  if (single) return [single]
  const columns = decodeCall(completeAll, data) as readonly (readonly unknown[])[] | undefined
  const ids = columns?.[0]
  if (!ids || columns.some(({ length }) => length !== ids.length)) return undefined
  return ids.map((_, index) => rowOf(columns.map((column) => column[index])))
}

function rowOf([id, initiator, recipient, amount, nonce]: readonly unknown[]): CompletionArguments {
  const lower = (value: unknown) => String(value).toLowerCase()
  return [lower(id), lower(initiator), lower(recipient), amount as bigint, nonce as bigint]
}
