import type { Transfer } from '../../../domain/transfer/transfer.ts'
import { isOf, type ListedTransfer } from '../../../temporal/client/streams/stream-transfers.ts'
import type { ScannedContext } from './context.ts'

/** Reads the source's table for these numbers into the cache. Throws as `source.recorded`. */
export async function recordedTransfers(
  { cache, source }: Pick<ScannedContext, 'cache' | 'source'>,
  numbers: readonly string[],
  at: 'finalized' | 'agreed' = 'finalized',
): Promise<readonly Transfer[]> {
  if (numbers.length === 0) return []
  const found = (await source.recorded(numbers, at)).flatMap((transfer) => transfer ?? [])
  cache.know(found)
  return found
}

/** The same, with numbers of the cache: the table keeps a transfer for good. */
export async function transfersUnder(
  context: Pick<ScannedContext, 'cache' | 'source'>,
  numbers: readonly string[],
): Promise<readonly Transfer[]> {
  const { cache } = context
  const unknown = numbers.filter((number) => !cache.transfer(number))
  await recordedTransfers(context, unknown)
  return numbers.flatMap((number) => cache.transfer(number) ?? [])
}

/** Splits transfers by the target's finalized state. Throws as `source.delivered`. */
export async function splitByDelivery(
  { source }: Pick<ScannedContext, 'source'>,
  transfers: readonly Transfer[],
): Promise<{ readonly delivered: readonly Transfer[]; readonly missing: readonly Transfer[] }> {
  const shown = transfers.length > 0 ? await source.delivered(transfers) : []
  return { delivered: transfers.filter((_, index) => shown[index]), missing: transfers.filter((_, index) => !shown[index]) }
}

export const numberOf = ({ sequence }: Transfer) => sequence

/** The listed workflows of the source's own transfers: another message may claim a number. */
export async function ownTransfers(
  context: Pick<ScannedContext, 'cache' | 'source'>,
  listed: readonly ListedTransfer[],
): Promise<readonly ListedTransfer[]> {
  const numbers = new Set(listed.map(({ number }) => number))
  const known = new Map((await transfersUnder(context, [...numbers])).map((transfer) => [transfer.sequence, transfer]))
  return listed.filter((one) => {
    const transfer = known.get(one.number)
    return transfer && isOf(one, transfer)
  })
}
