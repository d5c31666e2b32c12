import type { Bridges } from '../bridges/port.ts'
import { RelayerError } from '../domain/errors.ts'

/** The place of a transfer in a table of its source: a direction, and its number there. */
export interface RecordedPlace {
  readonly bridge: string
  readonly source: string
  readonly target: string
  /** u64 above 0, decimal. */
  readonly nonce: string
}

/**
 * The unsigned message of a transfer, as the source's contract has recorded it, at its finalized state. Throws INPUT_INVALID (a direction that this process
 * does not serve), NATIVE_NOT_FINAL, and what reads throw.
 */
export async function recordedMessage(bridges: Bridges, { bridge, source, target, nonce }: RecordedPlace): Promise<Uint8Array> {
  const directions = (bridges.get(bridge)?.sources ?? []).filter((one) => one.kind === 'scanned')
  const found = directions.find(({ sourceChain, targetChain }) => sourceChain === source && targetChain === target)
  if (!found) {
    const served = directions.map(({ sourceChain, targetChain }) => `${sourceChain}:${targetChain}`).join(', ')
    const detail = `No route of ${bridge} leads from ${source} to ${target}; here are: ${served || 'none'}.`
    throw new RelayerError('INPUT_INVALID', { detail })
  }
  const [transfer] = await found.recorded([nonce], 'finalized')
  if (!transfer) throw new RelayerError('NATIVE_NOT_FINAL', { facts: { chain: source, nonce } })
  return Buffer.from(transfer.message, 'base64')
}
