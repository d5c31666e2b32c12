import { RelayerError } from '../../domain/catalogue/errors.ts'
import { gapAt } from '../../domain/stream/gaps.ts'
import type { StreamState } from '../../domain/stream/stream.ts'
import { numberOfUnconfigured } from '../../domain/transfer/transfer.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { type KnownPlaces, resolveTransfer } from '../../temporal/client/transfers/resolve-transfer.ts'
import { listStreamNames } from '../../temporal/client/streams/streams.ts'
import { readStream, sourceOf } from './reports.ts'

/**
 * Finds a transfer's id. Throws TRANSFER_IN_GAP for a number in a gap of a stream, and the errors of `resolveTransfer`.
 */
export async function findTransfer(client: TemporalClient, text: string, known: KnownPlaces): Promise<string> {
  try {
    return await resolveTransfer(client, text, known)
  } catch (error) {
    const place = error instanceof RelayerError && error.code === 'TRANSFER_NOT_FOUND' ? placeIn(text) : undefined
    const { gate = (read) => read() } = known
    throw (place && (await gate(() => gapOf(client, place, known)).catch(() => undefined))) ?? error
  }
}

interface Place {
  readonly source: string
  readonly middle?: string | undefined
  readonly number: string
}

function placeIn(text: string): Place | undefined {
  const parts = text.trim().split(/[:/]/)
  const [source, ...rest] = parts.length === 5 ? parts.slice(1, 4) : parts
  const number = rest.pop()
  if (source === undefined || number === undefined || rest.length > 1 || !/^[0-9]{1,20}$/.test(number)) return undefined
  return { source, middle: rest[0], number }
}

async function gapOf(client: TemporalClient, { source, middle, number }: Place, { sourceIds }: KnownPlaces) {
  const ids = new Set([source, ...(sourceIds?.(source) ?? [])])
  const isFrom = (stream: string) => ids.has(sourceOf(stream)) || numberOfUnconfigured(sourceOf(stream)) === source
  for (const stream of (await listStreamNames(client)).filter(isFrom)) {
    const state = await readStream(client, stream).catch(() => undefined)
    const gap = state && isOf(state, middle) ? gapAt(state.gaps, BigInt(number)) : undefined
    if (!gap) continue
    const detail = `${stream} has number ${number} in a gap (${gap.state}) since ${new Date(gap.at).toISOString()}.`
    return new RelayerError('TRANSFER_IN_GAP', { detail, facts: { stream, number, gap: gap.state } })
  }
  return undefined
}

function isOf({ config: { stream, origin } }: StreamState, middle: string | undefined): boolean {
  const word = (text: string) => text.replace(/^0x/i, '').toLowerCase().padStart(64, '0')
  const last = stream.slice(stream.lastIndexOf(':') + 1)
  return middle === undefined || last === middle || [last, word(origin.slice(origin.indexOf('/') + 1))].includes(word(middle))
}
