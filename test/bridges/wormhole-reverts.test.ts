import { AbiCoder, concat, toBeHex } from 'ethers'
import { describe, expect, test } from 'vitest'
import { waitsForItself } from '../../domain/catalogue/errors.ts'
import { explainRevert } from '../../bridges/wormhole-token-bridge/reverts.ts'

function error(text: string): string {
  return concat(['0x08c379a0', AbiCoder.defaultAbiCoder().encode(['string'], [text])])
}

function panic(code: number): string {
  return concat(['0x4e487b71', toBeHex(code, 32)])
}

/** Revert reasons as text (until 2026-05) and as custom error (since then), from the contracts' source and bytecode. */
const meanings = [
  ['transfer already completed', '0x2ef04c88', 'delivered', undefined],
  ['no wrapper for this token created yet', '0x1a0ee8b6', 'wait', 'WRAPPER_MISSING'],
  [undefined, '0xa792dfa3', 'wait', 'BRIDGE_PAUSED'],
  ['invalid emitter', '0x2c6bb355', 'permanent', 'EMITTER_UNKNOWN'],
  ['invalid target chain', '0x376f6e4a', 'permanent', 'DELIVERY_IMPOSSIBLE'],
  ['invalid sender', '0xddb5de5e', 'permanent', 'PAYLOAD_WITH_CALL'],
  ['invalid token, can only unwrap WETH', '0x01f180c9', 'permanent', 'DELIVERY_IMPOSSIBLE'],
  ['invalid fork', '0xea03b6eb', 'permanent', 'DELIVERY_IMPOSSIBLE'],
  ['fee higher than transferred amount', undefined, 'permanent', 'DELIVERY_IMPOSSIBLE'],
  ['invalid guardian set', undefined, 'wait', 'GUARDIAN_SET_UNKNOWN'],
  ['guardian set has expired', undefined, 'permanent', 'GUARDIAN_SET_EXPIRED'],
  ['no quorum', undefined, 'permanent', 'VAA_NO_QUORUM'],
  ['VM signature invalid', undefined, 'permanent', 'VAA_SIGNATURE_INVALID'],
  ['VM version incompatible', undefined, 'permanent', 'VAA_VERSION'],
  ['SafeERC20: low-level call failed', '0x12345678', 'unknown', 'DELIVERY_REVERTED'],
] as const

describe('explainRevert', () => {
  test.each(meanings.filter(([text]) => text !== undefined))('explainRevert knows the text "%s"', (text, _, kind, code) => {
    const meaning = explainRevert({ data: error(text!), reason: 'not looked at when there are bytes' })
    expect(meaning).toMatchObject(code === undefined ? { kind } : { kind, code, reason: text })
    // Some nodes return the text of a revert without its data.
    expect(explainRevert({ data: '0x', reason: `execution reverted: ${text}` })).toMatchObject({ kind })
  })

  test.each(meanings.filter(([, selector]) => selector !== undefined))(
    'explainRevert knows the custom error of "%s": %s',
    (_, selector, kind, code) => {
      expect(explainRevert({ data: selector!, reason: `custom error ${selector}` })).toMatchObject(
        code === undefined ? { kind } : { kind, code },
      )
    },
  )

  test.each(meanings)('explainRevert concludes nothing about bridge or guardians if a stranger reverts with %s or %s', (text, selector) => {
    for (const revert of [...(text ? [{ data: error(text), reason: text }] : []), ...(selector ? [{ data: selector, reason: '' }] : [])]) {
      const meaning = explainRevert(revert, true)
      if (meaning.kind === 'delivered') continue
      const own = ['DELIVERY_REVERTED', 'WRAPPER_MISSING', 'DELIVERY_IMPOSSIBLE', 'PAYLOAD_WITH_CALL']
      expect(own).toContain(meaning.code)
      if (meaning.kind !== 'permanent') expect(waitsForItself(meaning.code)).toBe(true)
    }
    expect(explainRevert({ data: '0x', reason: 'BridgePaused' }, true)).toMatchObject({ kind: 'unknown', code: 'DELIVERY_REVERTED' })
  })

  test('explainRevert takes an underflow for a bridge that holds too little, and no other panic', () => {
    expect(explainRevert({ data: panic(0x11), reason: '' })).toMatchObject({ kind: 'wait', code: 'DELIVERY_REVERTED' })
    expect(explainRevert({ data: panic(0x01), reason: 'panic 1' })).toEqual({
      kind: 'unknown',
      code: 'DELIVERY_REVERTED',
      reason: 'panic 1',
    })
  })

  const noText = `0x08c379a0${'20'.padStart(64, '0')}${'01'.padStart(64, '0')}${'ff'.padEnd(64, '0')}`

  test.each(['0x', '0x08', '0x08c379a0', '0x08c379a0ff', '0x4e487b71', 'nonsense', noText])(
    'explainRevert survives the bytes %s',
    (data) => {
      expect(explainRevert({ data, reason: 'execution reverted' })).toEqual({
        kind: 'unknown',
        code: 'DELIVERY_REVERTED',
        reason: 'execution reverted',
      })
    },
  )
})
