import type { Intent } from '../../domain/intent.ts'
import { inTicks } from '../kit/contract-reader.ts'
import { provedBy, unproved } from '../kit/verdict.ts'
import { decodeCompletion } from './calls.ts'
import { nativeBridgeAbi } from './contracts.ts'
import { type CompletionArguments, type NativeRoute, transferOfCompletion, writeMessage } from './message.ts'
import { refusals } from './verify.ts'

/** See `Endpoint.proveCall`. The target trusts every RELAYER_ROLE, so each row must equal the source's table. */
export function createProveCall(routes: readonly NativeRoute[], verify: (message: Uint8Array) => Promise<void>) {
  const byTarget = new Map(routes.map((route) => [route.targetBridge, route]))
  return async function proveCall({ to, data, value }: Intent): Promise<void> {
    const route = byTarget.get(to.toLowerCase())
    if (!route) throw unproved('It calls no target contract of a route.', { to })
    if (value !== '0') throw unproved('It carries coins.', { to, value })
    const rows = completionsOf(data)
    if (!rows) throw unproved('It is no exactly encoded completion.', { to, selector: data.slice(0, 10) })
    const transfers = rows.map(transferOfCompletion)
    // The second of two equal rows would undo the batch.
    const isOnce = new Set(transfers.map(({ id }) => id)).size === transfers.length
    if (!isOnce || transfers.length === 0) throw unproved('It completes nothing, or a transfer twice.', { to })
    const { sourceBridge } = route
    const sourceNetworkId = BigInt(route.sourceNetworkId)
    await inTicks(transfers, (transfer) =>
      provedBy(async () => verify(writeMessage({ ...transfer, sourceNetworkId, sourceBridge })), refusals),
    )
  }
}

/** Undefined unless the data is exactly encoded. */
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
    // ethers throws for bad encodings, some only when a value is read.
    return undefined
  }
}

function rowOf([id, initiator, recipient, amount, nonce]: readonly unknown[]): CompletionArguments {
  const lower = (value: unknown) => String(value).toLowerCase()
  return [lower(id), lower(initiator), lower(recipient), amount as bigint, nonce as bigint]
}
