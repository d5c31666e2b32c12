import { expect, test } from 'vitest'
import { contentIn, profitOf, shownContent } from '../../domain/transfer/content.ts'

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

test('an amount is shown with its decimals, and without them as raw units; the raw number stays', () => {
  expect(shownContent({ ...content, decimals: '6' })).toMatchObject({ amount: '1500000', tokenAmount: '1.5' })
  expect(shownContent({ ...content, decimals: '0' })).toMatchObject({ tokenAmount: '1500000' })
  for (const decimals of [undefined, '78', '-1', '1e1', 6]) {
    expect(shownContent({ ...content, decimals })).toEqual({ ...content, tokenAmount: '1500000 raw units' })
  }
  expect(shownContent({ decimals: '6' })).toEqual({ decimals: '6' })
})

test('the profit of a paid request counts the coins and the gas of all own transactions', () => {
  const payment = { paid: '90', worth: '100', coins: '10' }
  const delivery = { ours: true, gasPaid: '30' }
  expect(profitOf(payment, { delivery })).toBe('60')
  const gas = (gasPaid: string) =>
    ({ lane: 'evm-1:0x', nonce: 1, round: 0, kind: 'call', maxFee: '1', tip: '1', fate: 'mined', gasPaid }) as const
  expect(profitOf(payment, { delivery, transactions: [gas('100'), gas('30')] })).toBe('-40')
  expect(profitOf(payment, { delivery: { ours: false } })).toBe('100')
  expect(profitOf(payment, {})).toBeUndefined()
  expect(profitOf(content, { delivery })).toBeUndefined()
})
