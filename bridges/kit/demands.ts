import { RelayerError } from '../../domain/catalogue/errors.ts'
import { mostMessageBytes, type Transfer } from '../../domain/transfer/transfer.ts'

/** Throws MESSAGE_TOO_LARGE. */
export function demandSize({ length: bytes }: { readonly length: number }, most = mostMessageBytes): void {
  if (bytes > most) throw new RelayerError('MESSAGE_TOO_LARGE', { facts: { bytes, most } })
}

/**
 * The fields that identify a transfer. `sourceChain` is not among them, because the config may rename a chain, and a
 * started transfer keeps the old name.
 */
const fields = ['bridge', 'sourceId', 'targetChain', 'emitter', 'sequence', 'digest'] as const

/** Throws MESSAGE_MISMATCH if an identifying field differs from `expected`, which the message decodes to. */
export function demandSame(transfer: Transfer, expected: Transfer): void {
  const field = fields.find((name) => transfer[name] !== expected[name])
  if (field === undefined) return
  // Digest and sequence identify the message. The other fields depend on the names and contracts of the config.
  const ofConfig = transfer.digest === expected.digest && transfer.sequence === expected.sequence
  throw new RelayerError('MESSAGE_MISMATCH', { facts: { field, transfer: transfer[field], message: expected[field] }, ofConfig })
}
