import { expect, test } from 'vitest'
import { dropAttempts, recordAttempts, rollBackAttempts, type SignedAttempt, transactionsKept } from '../../domain/transfer/attempts.ts'

const lane = 'evm-1:0x52908400098527886e0f7030069857d2e4169ee7'
const signed = (hash: string, fate: SignedAttempt['fate']): SignedAttempt => ({ kind: 'call', hash, maxFee: '2', tip: '1', fate })
const heard = (nonce: number, tried: SignedAttempt[], more: object = {}) => ({ lane, nonce, round: 1, at: 5, tried, ...more })
const fates = (all: readonly { hash?: string; fate: string }[]) => Object.fromEntries(all.map(({ hash, fate }) => [hash, fate]))

test('transactions of one process stay known when another reports only its own', () => {
  const first = recordAttempts([], heard(7, [signed('a', 'open'), signed('b', 'open')]))
  expect(fates(first)).toEqual({ a: 'pending', b: 'pending' })
  const second = recordAttempts(first, { ...heard(7, [signed('c', 'mined')]), landed: { txHash: 'c', gasPaid: '42' } })
  expect(second).toEqual([
    { lane, nonce: 7, round: 1, kind: 'call', hash: 'a', maxFee: '2', tip: '1', at: 5, fate: 'pending' },
    { lane, nonce: 7, round: 1, kind: 'call', hash: 'b', maxFee: '2', tip: '1', at: 5, fate: 'pending' },
    { lane, nonce: 7, round: 1, kind: 'call', hash: 'c', maxFee: '2', tip: '1', at: 5, fate: 'mined', gasPaid: '42' },
  ])
})

test('a transaction that fell out of its block is reorged until it or another one is mined', () => {
  const mined = recordAttempts([], heard(7, [signed('a', 'outbid'), signed('b', 'mined')], { landed: { txHash: 'b', gasPaid: '1' } }))
  expect(fates(mined)).toEqual({ a: 'replaced', b: 'mined' })
  const fallen = rollBackAttempts(mined, 1, 9)
  expect(fates(fallen)).toEqual({ a: 'replaced', b: 'reorged' })
  expect(fallen[1]).not.toHaveProperty('gasPaid')
  expect(fates(rollBackAttempts(mined, 2, 9))).toEqual(fates(mined))
  expect(fates(recordAttempts(fallen, heard(7, [signed('a', 'open'), signed('b', 'open')])))).toEqual({ a: 'pending', b: 'reorged' })
  expect(fates(recordAttempts(fallen, heard(7, [signed('a', 'mined'), signed('b', 'outbid')])))).toEqual({ a: 'mined', b: 'replaced' })
  expect(fates(recordAttempts(mined, heard(7, [signed('b', 'open')])))).toEqual({ a: 'replaced', b: 'reorged' })
})

test('the end of a round drops transactions in no block, and a failed round keeps its own', () => {
  const all = recordAttempts([], heard(7, [signed('a', 'outbid'), signed('b', 'open')]))
  const ended = dropAttempts(all, 1)
  expect(fates(ended)).toEqual({ a: 'replaced', b: 'dropped' })
  const next = recordAttempts(ended, { ...heard(9, [signed('c', 'open')]), round: 2 })
  expect(fates(next)).toEqual({ a: 'replaced', b: 'dropped', c: 'pending' })
})

test('the newest transactions are kept', () => {
  const many = Array.from({ length: 60 }, (_, index) => signed(`h${index}`, 'open'))
  const kept = recordAttempts([], heard(1, many))
  expect([kept.length, kept.at(-1)?.hash]).toEqual([transactionsKept, 'h59'])
})

test('an attempt has the status signed until a node accepts it, and reverted if its call reverts', () => {
  const first = recordAttempts([], heard(7, [{ ...signed('a', 'open'), at: 1, acceptedAt: 2 }, signed('b', 'signed')]))
  expect(fates(first)).toEqual({ a: 'pending', b: 'signed' })
  // The new process has signed `a` again, but has not sent it yet.
  const taken = recordAttempts(
    first,
    heard(7, [
      { ...signed('a', 'signed'), at: 8 },
      { ...signed('b', 'open'), at: 8, acceptedAt: 9 },
    ]),
  )
  expect(fates(taken)).toEqual({ a: 'pending', b: 'pending' })
  expect(taken).toMatchObject([
    { at: 1, acceptedAt: 2 },
    { at: 5, acceptedAt: 9 },
  ])
  const landed = { txHash: 'b', gasPaid: '42' }
  const mined = { ...signed('b', 'reverted'), gasUsed: '21', includedAt: 12 }
  const reverted = recordAttempts(taken, heard(7, [signed('a', 'outbid'), mined], { landed }))
  expect(fates(reverted)).toEqual({ a: 'replaced', b: 'reverted' })
  expect(reverted[1]).toMatchObject({ gasUsed: '21', gasPaid: '42', includedAt: 12, acceptedAt: 9 })
  const fallen = rollBackAttempts(reverted, 1, 13)[1]
  expect(fallen).toMatchObject({ fate: 'reorged', includedAt: 12, reorgedAt: 13 })
  expect(fallen).not.toHaveProperty('gasUsed')
  expect(fates(dropAttempts(reverted, 1))).toEqual({ a: 'replaced', b: 'reverted' })
})
