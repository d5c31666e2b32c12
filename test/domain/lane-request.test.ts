import type { ApplyRequest } from '../../domain/lane/messages.ts'
import { assertApplyRequest } from '../../domain/lane/reducer/reducer.ts'
import { describe, expect, test } from 'vitest'

const attempt = { kind: 'call', gasLimit: '21000', maxFee: '10', tip: '1' } as const
const owner = { workflowId: 'w', intentId: 'w/1', callHash: '0x1' }
const grant = { kind: 'grant', id: 'a', owner, attempt } as const
const observe = { latest: 1, finalized: 0, height: 9, hash: '0x', balance: '5', claims: [0], since: 2 }

describe('an update of the ledger', () => {
  test('a well-formed update of the ledger is accepted', () => {
    expect(() => assertApplyRequest({ observe, requests: [grant, { kind: 'resume', id: 'b' }] })).not.toThrow()
  })

  test.each<[string, unknown]>([
    ['requests: must be a list', {}],
    ['requests: must be a list', null],
    ['requests: must be a list of at most 100', { requests: Array.from({ length: 101 }, () => grant) }],
    ['requests[0].kind: unknown', { requests: [{ kind: 'mint' }] }],
    [
      'requests[0].attempt.maxFee: must be a decimal number in quotes',
      { requests: [{ ...grant, attempt: { ...attempt, maxFee: '1e9' } }] },
    ],
    ['requests[0].attempt.kind: must be call or noop', { requests: [{ ...grant, attempt: undefined }] }],
    ['requests[0].owner.intentId: must be a text', { requests: [{ ...grant, owner: { ...owner, intentId: '' } }] }],
    ['requests[0].owner.value: must be a decimal number in quotes', { requests: [{ ...grant, owner: { ...owner, value: -1 } }] }],
    ['requests[0].nonce: must be a whole number', { requests: [{ kind: 'fill', id: 'c', nonce: -1, reason: 'operator' }] }],
    ['requests[0].window: must be a whole number', { requests: [{ kind: 'setWindow', id: 'd', window: '8' }] }],
    ['requests[0].how: must be leave or cancel or abandon', { requests: [{ kind: 'withdraw', id: 'e', intentId: 'w/1' }] }],
    ['requests[0].grantedTo: must be a text', { requests: [{ kind: 'release', id: 'f', intentId: 'w/1' }] }],
    ['observe.balance: must be a decimal number in quotes', { observe: { ...observe, balance: 5 }, requests: [] }],
    ['observe.pending: more than 1000 ahead of observe.latest', { observe: { ...observe, pending: 1_002 }, requests: [] }],
    ['observe.claims[0]: must be a whole number', { observe: { ...observe, claims: ['1'] }, requests: [] }],
  ])('a malformed update of the ledger is refused before it is recorded: %s', (message, request) => {
    expect(() => assertApplyRequest(request as ApplyRequest)).toThrow(message)
  })
})
