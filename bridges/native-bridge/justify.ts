import type { Intent } from '../../domain/intent.ts'
import { inTicks } from '../kit/contract-reader.ts'
import { justifiedBy, unjustified } from '../kit/justify.ts'
import { decodeCompletion } from './completion-call.ts'
import { nativeBridgeAbi } from './contracts.ts'
import { type CompletionArguments, type NativeRoute, transferOfCompletion, writeMessage } from './message.ts'
import { refusals } from './verify.ts'

/**
 * See `Endpoint.justify`: the target contract believes every account with RELAYER_ROLE, so that each row must be what the source's own table has.
 * @param routes that end at this chain
 * @param verify of a message, by the source's table
 */
export function createJustify(routes: readonly NativeRoute[], verify: (message: Uint8Array) => Promise<void>) {
  const byTarget = new Map(routes.map((route) => [route.targetBridge, route]))
  return async function justify({ to, data, value }: Intent): Promise<void> {
    const route = byTarget.get(to.toLowerCase())
    if (!route) throw unjustified('It calls no target contract of a route.', { to })
    if (value !== '0') throw unjustified('It carries coins.', { to, value })
    const rows = completionsOf(data)
    if (!rows) throw unjustified('It is no exactly encoded completion.', { to, selector: data.slice(0, 10) })
    const transfers = rows.map(transferOfCompletion)
    // The second of two equal rows would undo the whole batch.
    const isOnce = new Set(transfers.map(({ id }) => id)).size === transfers.length
    if (!isOnce || transfers.length === 0) throw unjustified('It completes nothing, or a transfer twice.', { to })
    const { sourceBridge } = route
    const sourceNetworkId = BigInt(route.sourceNetworkId)
    await inTicks(transfers, (transfer) =>
      justifiedBy(async () => verify(writeMessage({ ...transfer, sourceNetworkId, sourceBridge })), refusals),
    )
  }
}

/** The rows of a completion, alone or in a batch; undefined unless the bytes are exactly what their encoding gives again. */
function completionsOf(data: string): readonly CompletionArguments[] | undefined {
  const single = decodeCompletion(data)
  if (single) return [single]
  try {
    const call = nativeBridgeAbi.parseTransaction({ data })
    if (!call || nativeBridgeAbi.encodeFunctionData(call.fragment, call.args) !== data.toLowerCase()) return undefined
    if (call.name !== 'batchCompleteBridgeTransfer') return undefined
    const columns = call.args.toArray(true) as unknown[][]
    const [ids = []] = columns
    if (columns.some((column) => column.length !== ids.length)) return undefined
    return ids.map((_, index) => rowOf(columns.map((column) => column[index])))
  } catch {
    // ethers throws for what it cannot decode, some of it only when it is read.
    return undefined
  }
}

function rowOf([id, initiator, recipient, amount, nonce]: readonly unknown[]): CompletionArguments {
  return [lower(id), lower(initiator), lower(recipient), amount as bigint, nonce as bigint]
}

function lower(value: unknown): string {
  return String(value).toLowerCase()
}
