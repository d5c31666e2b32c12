import { AbiCoder, concat, id } from 'ethers'
import { describe, expect, test } from 'vitest'
import { nativeBridgeAbi } from '../../bridges/native-bridge/contracts.ts'
import { explainRevert } from '../../bridges/native-bridge/reverts.ts'
import { nativeBridgeAbi as compiledAbi } from '../../lab/devnet/native/native-bridge.ts'
import { compiledArtifact } from '../../lab/devnet/chain/solidity.ts'

const address = `0x${'ab'.repeat(20)}`
const role = id('RELAYER_ROLE')

/** Every error that a completion can throw in the strict or the fixed contract. */
const meanings: readonly [name: string, args: readonly unknown[], expected: object][] = [
  ['CompletedBridgeTransferId', [], { kind: 'delivered' }],
  ['InboundRateLimitExceeded', [], { kind: 'wait', code: 'BRIDGE_BUDGET' }],
  [
    'AccessControlUnauthorizedAccount',
    [address, role],
    { kind: 'wait', code: 'BRIDGE_ROLE_MISSING', reason: expect.stringContaining('paused') },
  ],
  ['EnforcedPause', [], { kind: 'wait', code: 'BRIDGE_PAUSED' }],
  ['MOVETransferFailed', [], { kind: 'wait', code: 'BRIDGE_POOL_EMPTY' }],
  ['ERC20InsufficientBalance', [address, 1n, 2n], { kind: 'wait', code: 'BRIDGE_POOL_EMPTY' }],
  ['InvalidNonce', [], { kind: 'permanent', code: 'DELIVERY_IMPOSSIBLE' }],
  ['InvalidBridgeTransferId', [], { kind: 'permanent', code: 'DELIVERY_IMPOSSIBLE' }],
  ['InvalidLenghts', [], { kind: 'permanent', code: 'DELIVERY_IMPOSSIBLE' }],
  ['ERC20InvalidReceiver', [address], { kind: 'permanent', code: 'DELIVERY_IMPOSSIBLE' }],
  ['ZeroAmount', [], { kind: 'permanent', code: 'DELIVERY_IMPOSSIBLE' }],
  ['ZeroAddress', [], { kind: 'permanent', code: 'DELIVERY_IMPOSSIBLE' }],
  ['OutboundRateLimitExceeded', [], { kind: 'unknown', reason: 'OutboundRateLimitExceeded' }],
  ['InvalidRiskDenominator', [], { kind: 'unknown', reason: 'InvalidRiskDenominator' }],
  ['ExpectedPause', [], { kind: 'unknown', reason: 'ExpectedPause' }],
  ['AccessControlBadConfirmation', [], { kind: 'unknown', reason: 'AccessControlBadConfirmation' }],
  ['InvalidInitialization', [], { kind: 'unknown', reason: 'InvalidInitialization' }],
  ['NotInitializing', [], { kind: 'unknown', reason: 'NotInitializing' }],
]

const revert = (data: string, reason = '') => ({ data, reason })
const encoded = (name: string, args: readonly unknown[] = []) => revert(nativeBridgeAbi.encodeErrorResult(name, args))
const limits = { day: 0, used: 90n, cap: 100n, paused: false, mayComplete: true }

describe('reverts of the native bridge', () => {
  test.each(meanings)('a revert of the native bridge has its meaning: %s', (name, args, expected) => {
    expect(explainRevert(encoded(name, args))).toMatchObject(expected)
  })

  // The first run takes a long time, because it compiles the contracts.
  test('the known reverts of the native bridge are the errors of the compiled contracts, none forgotten', async () => {
    const mine = new Map(nativeBridgeAbi.fragments.flatMap((one) => (one.type === 'error' ? [[id(one.format()), one.format()]] : [])))
    const abis = [await compiledAbi('strict'), await compiledAbi('fixed')]
    for (const one of abis.flatMap((abi) => abi.fragments.filter(({ type }) => type === 'error')))
      expect([one.format(), mine.has(id(one.format()))]).toEqual([one.format(), true])
    // The token can throw these errors when the pool pays.
    const token = (await compiledArtifact('BridgeToken')).abi
    for (const name of ['ERC20InsufficientBalance', 'ERC20InvalidReceiver'])
      expect(mine.has(id(token.getError(name)?.format() ?? ''))).toBe(true)
    expect(new Set([...mine.values()].map((text) => text.split('(')[0]))).toEqual(new Set(meanings.map(([name]) => name)))
  }, 120_000)

  test('reverts distinguish a spent budget from an amount that never fits', () => {
    const data = encoded('InboundRateLimitExceeded')
    const explain = (amount: bigint, changes = {}) => explainRevert(data, { limits: { ...limits, ...changes }, amount, now: 5 })
    // According to one node's limits, 100 is above the cap. Only the gate, which asks more nodes, parks a transfer.
    expect(explain(100n)).toMatchObject({ kind: 'wait', code: 'BRIDGE_CAP' })
    expect(explain(99n)).toMatchObject({ kind: 'wait', code: 'BRIDGE_BUDGET', reason: expect.stringContaining('1970-01-02T00:00:00Z') })
    // These limits were read before the budget was spent, so the contract's answer counts.
    expect(explain(5n, { used: 0n })).toMatchObject({ kind: 'wait', code: 'BRIDGE_BUDGET' })
    // The revert is about the rate limit, so the pause and the missing role do not matter.
    expect(explain(100n, { paused: true, mayComplete: false })).toMatchObject({ kind: 'wait', code: 'BRIDGE_CAP' })
    expect(explain(100n, { cap: 0n })).toMatchObject({ kind: 'wait', code: 'BRIDGE_BUDGET' })
  })

  test('a contract that was never initialised is recognised, and an unknown revert is repeated', () => {
    const panic = (code: number) => revert(concat(['0x4e487b71', AbiCoder.defaultAbiCoder().encode(['uint256'], [code])]))
    expect(explainRevert(panic(0x12))).toMatchObject({ kind: 'wait', reason: expect.stringContaining('not initialised') })
    expect(explainRevert(panic(0x11))).toEqual({ kind: 'unknown', code: 'DELIVERY_REVERTED', reason: 'Panic' })
    const text = concat(['0x08c379a0', AbiCoder.defaultAbiCoder().encode(['string'], ['only the deployer mints'])])
    expect(explainRevert(revert(text))).toEqual({ kind: 'unknown', code: 'DELIVERY_REVERTED', reason: 'only the deployer mints' })
    for (const data of ['0x', '0xff', '0x12345678', encoded('ERC20InvalidReceiver', [address]).data.slice(0, 10)])
      expect(explainRevert(revert(data, 'as the node says'))).toEqual({
        kind: 'unknown',
        code: 'DELIVERY_REVERTED',
        reason: 'as the node says',
      })
  })
})
