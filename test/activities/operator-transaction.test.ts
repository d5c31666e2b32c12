import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { describe, expect, test } from 'vitest'
import { withHeartbeats } from '../../activities/run-step.ts'
import { createSendOperatorTransaction } from '../../activities/operator-transaction/operator-transaction.ts'
import type { Chain } from '../../chains/port.ts'
import type { LaneView } from '../../domain/lane/messages.ts'
import type { LaneAgent } from '../../lanes/agent.ts'
import type { PendingTransaction } from '../../lanes/transaction/pending-transaction.ts'
import type { SendOperatorTransactionInput } from '../../temporal/contracts/operator-transaction.ts'

const lane = `evm-1:0x${'11'.repeat(20)}`
const intent = { to: `0x${'7e'.repeat(20)}`, data: '0x', value: '7' }
const other = { ...intent, value: '8' }
const orderedAt = 3_600_000
const block = { height: 5, hash: '0xb5' }

/**
 * The first try got nonce 4 and crashed. `used`: the calls of the nonces from 1 on. The ledger did not grant these
 * nonces.
 */
function setting(
  used: readonly (typeof intent | undefined)[],
  {
    agreed = 3,
    attempt = 2,
    more = {},
  }: { readonly agreed?: number; readonly attempt?: number; readonly more?: Partial<SendOperatorTransactionInput> } = {},
) {
  const did: string[] = []
  const pending: Partial<PendingTransaction> = {
    ...{ nonce: 4, unsigned: true, tried: [], state: { kind: 'pending', note: '' } },
    until: async () => false,
    signAndSend: async () => void did.push('sign'),
  }
  const agent: Partial<LaneAgent> = {
    view: { era: 1, forgotten: [{ from: 1, to: 3, at: orderedAt + 1 }] } as unknown as LaneView,
    find: async () => ({ kind: 'acquired', pending: pending as PendingTransaction }),
    release: async () => (did.push('release'), true),
    cancel: async () => (did.push('cancel'), 'held'),
  }
  const chain: Partial<Chain> = {
    agreedNonce: async () => agreed,
    balanceOf: async () => '9',
    mined: async (_, nonce) => {
      const call = used[nonce - 1]
      return call && { hash: `0x${nonce}`, signingHash: '0x', call, block }
    },
    block: async () => ({ ...block, parentHash: '0x', timestamp: orderedAt / 1000 }),
    receipt: async (hash) => ({ hash, status: 'success', block, from: '0x', gasUsed: '1', effectiveGasPrice: '2', logs: [] }),
  }
  const send = createSendOperatorTransaction({
    agent: { ...agent, lane } as LaneAgent,
    chain: chain as Chain,
    fees: () => ({}),
  })
  const environment = new MockActivityEnvironment({ attempt, heartbeatTimeoutMs: 60_000 }, { logger: new DefaultLogger('ERROR') })
  const input = { lane, intent, intentId: 'operator-transaction:a/1', lookUpOnly: false, cancel: false, orderedAt, ...more }
  return { did, result: () => environment.run(withHeartbeats(send), input) }
}

test('an automatic top-up sends nothing if the account has its minimum by then', async () => {
  const { did, result } = setting([other, other], { attempt: 1, more: { onlyBelow: { address: intent.to, minimum: '9' } } })
  expect(await result()).toEqual({ kind: 'impossible', reason: 'the account has its minimum: nothing was sent' })
  expect(did).toEqual([])
})

describe('A later try of a payment that was given a nonce and signed nothing', () => {
  test('a later try of a payment cancels its nonce if an earlier ledger has paid', async () => {
    const { did, result } = setting([intent, other])
    expect(await result()).toMatchObject({ kind: 'final', nonce: 1, txHash: '0x1' })
    expect(did).toEqual(['release', 'cancel'])
  })

  test('a later try of a payment is lost if no node has the transaction of the nonce', async () => {
    const { did, result } = setting([undefined, other])
    expect(await result()).toMatchObject({ kind: 'lost' })
    expect(did).toEqual(['release', 'cancel'])
  })

  test('a later try of a payment waits, with its nonce, until the fate of the others is known', async () => {
    const { did, result } = setting([intent, other], { agreed: 2 })
    expect(await result()).toMatchObject({ kind: 'no-slot', code: 'NONCE_NOT_FINAL' })
    expect(did).toEqual(['release'])
  })

  test('a later try of a payment signs if no earlier ledger paid, and goes on with an earlier signature', async () => {
    const none = setting([other, other])
    expect(await none.result()).toMatchObject({ kind: 'pending', held: { nonce: 4 } })
    expect(none.did).toEqual(['sign'])
    const signed = setting([intent, other], { more: { held: { nonce: 4, tried: [{ kind: 'call', hash: '0xa' }] } } })
    expect(await signed.result()).toMatchObject({ kind: 'pending', held: { nonce: 4 } })
    expect(signed.did).toEqual(['sign'])
  })
})
