import { expect, test } from 'vitest'
import { contentIn } from '../../domain/transfer/content.ts'

const content = {
  amount: '1500000',
  token: `2/${'ab'.repeat(32)}`,
  recipient: `0x${'cd'.repeat(20)}`,
  sourceTxHash: `0x${'ef'.repeat(32)}`,
}

test('a memo shows what a transfer moves', () => {
  expect(contentIn(content)).toEqual(content)
})

test.each([undefined, null, 7, 'amount', [], { unreadable: 'ENCRYPTION_MISSING' }])('a memo that is %j shows nothing', (memo) => {
  expect(contentIn(memo)).toEqual({})
})

test('fields that a stranger could use to mislead a reader are left out, and the others are kept', () => {
  const hostile = {
    amount: '-1',
    token: 'USDC\u202e <b>',
    recipient: `0x${'c'.repeat(2_000)}`,
    sourceTxHash: content.sourceTxHash,
    more: 'x',
  }
  expect(contentIn(hostile)).toEqual({ sourceTxHash: content.sourceTxHash })
})
