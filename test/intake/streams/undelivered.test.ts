import { expect, test } from 'vitest'
import type { Transfer } from '../../../domain/transfer/transfer.ts'
import type { ScannedContext } from '../../../intake/streams/scanned/context.ts'
import { undelivered } from '../../../intake/streams/scanned/transfers.ts'
import { nativeTransfer } from '../../helpers/native-transfer.ts'
import { fakeChain } from './fake-context.ts'

/** Runs the check on a target that shows no delivery, and that could show only deliveries of even numbers. */
function undeliveredOf(numbers: readonly number[]) {
  const isEven = ({ sequence }: Transfer) => BigInt(sequence) % 2n === 0n
  const endpoint = { delivered: async () => false, mayShow: async (transfer: Transfer) => isEven(transfer) }
  const targets = new Map([['b', { chain: fakeChain(9), endpoint }]])
  const context = { targets, stopping: new AbortController().signal } as unknown as ScannedContext
  return undelivered(
    context,
    numbers.map((number) => nativeTransfer(number, { targetChain: 'b' })),
  )
}

test("a stream's audit does not restart a delivered burn while no answer shows the burn's nonce", async () => {
  expect((await undeliveredOf([1, 2, 3, 4])).map(({ sequence }) => sequence)).toEqual(['2', '4'])
})
