import { expect, test } from 'vitest'
import { whyOf } from '../../workflows/transfer/transfer-run.ts'

const turnedAway = { lanes: ['evm-1:0xa'], code: 'LANE_FULL', reason: 'evm-1:0xa: 16 are in flight' } as const
const reason = 'only evm-1:0xa may deliver it'

test('a transfer that may use only one lane shows why this lane granted no nonce', () => {
  const given = { ...turnedAway, lanes: [...turnedAway.lanes] }
  expect(whyOf({ code: 'LANE_CHOSEN', reason }, given)).toEqual({ code: 'LANE_CHOSEN', reason: `${reason}; ${turnedAway.reason}` })
  expect(whyOf({ code: 'LANE_NONE', reason: 'no other lane' }, given)).toEqual({ code: 'LANE_FULL', reason: turnedAway.reason })
  expect(whyOf({ code: 'LANE_CHOSEN', reason }, undefined)).toMatchObject({ code: 'LANE_CHOSEN', reason })
  expect(whyOf({ code: 'FEE_LIMIT', reason: 'x', feeLimit: 'gas' }, given)).toMatchObject({
    code: 'FEE_LIMIT',
    reason: 'x',
    feeLimit: 'gas',
  })
})
