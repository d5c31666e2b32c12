import { decodeBase64 } from 'ethers'
import { RelayerError } from '../../domain/errors.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import type { Inbound } from './inbound.ts'
import { type NativeMessage, readMessage, toTransfer } from './message.ts'
import type { ReadableRoute, Routes } from './verify.ts'

/** A transfer's message, decoded, with where it goes. */
export interface Open {
  readonly message: NativeMessage
  readonly route: ReadableRoute
  readonly inbound: Inbound
}

export type OpenTransfers = ReturnType<typeof createOpen>

const fields = ['bridge', 'sourceChain', 'targetChain', 'emitter', 'sequence', 'digest'] as const

/** Decodes each transfer once: the gate watcher asks for the same ones block after block. */
export function createOpen(routes: Routes, inbounds: ReadonlyMap<string, Inbound>) {
  const known = new WeakMap<Transfer, Open>()

  /** Throws NATIVE_MESSAGE, NATIVE_ID_MISMATCH, NATIVE_ROUTE_UNKNOWN. */
  function of(transfer: Transfer): Open {
    const before = known.get(transfer)
    if (before) return before
    const message = readMessage(decodeBase64(transfer.message))
    const route = routes.of(message)
    const inbound = inbounds.get(route.targetBridge)
    if (!inbound) throw new RelayerError('INTERNAL', { detail: `The limits of ${route.targetBridge} are not kept.` })
    const now = { message, route, inbound }
    known.set(transfer, now)
    return now
  }

  return {
    of,
    /** Throws MESSAGE_MISMATCH if the message is of another transfer, and as `of`. */
    checkSame(transfer: Transfer): void {
      const { message, route } = of(transfer)
      const expected = toTransfer(route, message)
      const field = fields.find((name) => transfer[name] !== expected[name])
      if (field === undefined) return
      throw new RelayerError('MESSAGE_MISMATCH', { facts: { field, transfer: transfer[field], message: expected[field] } })
    },
  }
}
