import { describe, expect, test } from 'vitest'
import { createRefuse, type EndDeps } from '../../activities/transfer/confirm-end.ts'
import type { At, Chain } from '../../chains/port.ts'
import type { LedgerNonces } from '../../lanes/ledger/keyless-requests.ts'
import type { WithdrawInput } from '../../temporal/contracts/transfer-steps.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import { nativeTransfer } from '../helpers/native-transfer.ts'
import { bridgesWith, fakeEndpoint } from './fake-bridge.ts'
import { scriptedChain } from './scripted-chain.ts'

const lane = `evm-1:0x${'aa'.repeat(20)}`
const transfer = nativeTransfer(7)
const declined = { kind: 'declined', code: 'AMOUNT_TOO_SMALL', reason: 'below the minimum' } as const
const rejected = { kind: 'rejected', code: 'NATIVE_ROUTE_UNKNOWN', reason: 'no such route' } as const

/** `word`: the ledger's answer. `agreed`: the account's count of used nonces, according to most nodes. */
function setting(word: Partial<LedgerNonces>, { agreed = 5, pending = 5, delivered = (): boolean => false } = {}) {
  const asked: At[] = []
  const withdrawn: WithdrawInput[] = []
  const reads: Partial<Chain> = {
    blockTimeMs: 1_000,
    agreedNonce: () => Promise.resolve(agreed),
    pendingNonce: () => Promise.resolve(pending),
  }
  const endpoint = fakeEndpoint({
    delivered: (_, at) => (asked.push(at), Promise.resolve(delivered())),
    findDelivery: () => Promise.resolve({ by: lane.slice(6), txHash: '0x1', blockHeight: 1, blockHash: '0x2' }),
  })
  const refuse = createRefuse({
    chains: new Map([
      [
        transfer.targetChain,
        Object.assign(
          scriptedChain(() => '0x01'),
          reads,
        ),
      ],
    ]),
    lanes: new Map([[transfer.targetChain, { lanes: [lane] }]]),
    bridges: bridgesWith(endpoint),
    sharedHeldNonces: (workflowId: string) => {
      expect(workflowId).toBe(transferId(transfer))
      return Promise.resolve([{ lane, nonces: [], owners: [], finalized: 0, isNew: false, knowsAll: true, ...word }])
    },
    withdraw: (input: WithdrawInput) => (withdrawn.push(input), Promise.resolve({ kind: 'free' })),
  } as unknown as EndDeps)
  return { refuse, asked, withdrawn }
}

describe('a transfer that the checks refuse, and that remembers no nonce', () => {
  test('a refused transfer ends if no ledger holds anything for it', async () => {
    const { refuse } = setting({})
    expect(await refuse(transfer, declined)).toEqual(declined)
    expect(await refuse(transfer, rejected)).toEqual(rejected)
  })

  test.each([declined, rejected])('a refused transfer waits while a ledger holds a nonce for an earlier run: $kind', async (refusal) => {
    const { refuse, withdrawn } = setting({ nonces: [7], owners: [`${transferId(transfer)}/3`] })
    expect(await refuse(transfer, refusal)).toMatchObject({
      kind: 'waiting',
      code: 'NONCE_NOT_FINAL',
      reason: expect.stringContaining(`nonce 7 of ${lane}`),
    })
    // Anyone can send an invalid message with the id of an honest one, so a rejection withdraws no intent.
    const asked = [{ lane, intentId: `${transferId(transfer)}/3`, how: 'cancel' }]
    expect(withdrawn).toEqual(refusal.kind === 'declined' ? asked : [])
  })

  test('after a wipe a refused transfer waits while a pool has transactions of the lane', async () => {
    expect(await setting({ knowsAll: false }, { pending: 6 }).refuse(transfer, declined)).toMatchObject({
      kind: 'waiting',
      code: 'NONCE_NOT_FINAL',
    })
    expect(await setting({ knowsAll: false }).refuse(transfer, declined)).toEqual(declined)
  })

  test('a declined transfer is delivered if the finalized state shows the effect', async () => {
    const { refuse } = setting({}, { delivered: () => true })
    expect(await refuse(transfer, declined)).toMatchObject({ kind: 'delivered', delivery: { ours: true, txHash: '0x1' } })
  })

  test('the effect of an invalid message is not read: strangers choose its fields', async () => {
    const { refuse, asked } = setting({}, { delivered: () => true })
    expect(await refuse(transfer, rejected)).toEqual(rejected)
    expect(asked).toEqual([])
  })

  test('a copy with bad signatures does not replace a message that holds a nonce', async () => {
    const { refuse } = setting({ nonces: [7] })
    expect(await refuse(transfer, rejected)).toMatchObject({ kind: 'waiting', unverified: true })
    expect(await refuse(transfer, declined)).not.toHaveProperty('unverified')
  })

  test('a transfer that waits for newer signatures asks no ledger: it does not end', async () => {
    const expired = { kind: 'rejected', code: 'GUARDIAN_SET_EXPIRED', reason: 'old', awaitNewSignatures: true } as const
    expect(await setting({ nonces: [7] }).refuse(transfer, expired)).toEqual(expired)
  })
})
