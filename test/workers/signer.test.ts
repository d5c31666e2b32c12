import { id } from 'ethers'
import { describe, expect, test } from 'vitest'
import { wormholeTokenBridgeSchema } from '../../config/schema/bridge-schema.ts'
import { createBridges } from '../../bridges/registry.ts'
import { createEvmChain, createSigner } from '../../chains/evm/index.ts'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { startWeb3Signer } from '../../lab/devnet/signing/web3signer.ts'
import { signingLimitsSchema } from '../../config/schema/lane-schema.ts'
import { type ErrorCode, RelayerError } from '../../domain/catalogue/errors.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { codeOf } from '../helpers/refusals.ts'
import { testPolicy } from '../helpers/signing-policy.ts'
import { createLogger } from '../../observability/logger.ts'
import { openSigner, signingPolicy } from '../../workers/roles/signer.ts'

const address = (digit: string) => `0x${digit.repeat(40)}`
const [bridge, redeemer, treasury, token] = ['a', 'b', 'c', 'd'].map(address) as [string, string, string, string]
const [mine, other] = [devnetAccount(3), devnetAccount(4)]
const lanes = [mine, other].map((account) => ({ address: account.address, window: 16, broadcast: 'auto' as const }))
const selector = (signature: string) => id(signature).slice(0, 10)
const complete = ['completeTransfer(bytes)', 'completeTransferAndUnwrapETH(bytes)'].map(selector)

describe("The policy of a lane's key", () => {
  const chain = createEvmChain({
    name: 'here',
    networkId: 1,
    nodes: [{ url: 'http://127.0.0.1:1' }],
    finality: { kind: 'instant' },
    blockTimeMs: 1000,
  })
  const bridges = createBridges(
    {
      chains: { here: { networkId: 1, wormholeChainId: 2, contracts: { core: address('e'), tokenBridge: bridge } } },
      bridges: { 'wormhole-token-bridge': wormholeTokenBridgeSchema.parse({ calls: { here: { [redeemer]: 'redeem(bytes)' } } }) },
    },
    new Map([['here', chain]]),
  )
  const endpoints = [...bridges].map(([bridge, { endpoints: all }]) => ({ ...all.get('here')!, bridge }))

  const signing = signingLimitsSchema.parse({})
  const here = { family: 'evm', networkId: 1, lanes, signing } as const
  type Parts = Parameters<typeof signingPolicy>[0]
  const policyOf = (lane: Partial<Parts['lane']> = {}, more: Partial<Parts['chain']> = {}) =>
    signingPolicy({
      chainName: 'here',
      chain: { ...here, ...more },
      lane: { address: mine.address, ...lane },
      dataFee: async () => '0',
      finalNonce: async () => 0,
      bridges: endpoints,
      settings: () => noSettings,
      spendingFolder: '/none',
    })

  test('by default, a key signs calls of its bridges, but no payment to another lane', () => {
    expect(policyOf()).toMatchObject({
      calls: { [bridge]: complete, [redeemer]: [selector('redeem(bytes)')] },
      payees: [],
      otherLanes: [other.address],
      topUps: false,
      tokens: [],
    })
  })

  test('a key with a treasury and lists of calls signs only these payments and calls', () => {
    const allow = { [redeemer]: ['0x12345678'] }
    const operatorCalls = { [token]: ['0x87654321'] }
    expect(policyOf({ allow, operatorCalls }, { treasury: { address: treasury, tokens: [token] } })).toMatchObject({
      calls: allow,
      operatorCalls,
      payees: [treasury],
      otherLanes: [other.address],
      tokens: [token],
    })
  })

  test("an unproved delivery is not signed, and a delivery cannot be an operator's call", async () => {
    const policy = policyOf({ allow: { [redeemer]: ['0x12345678'] } })
    await expect(policy.proveCall({ to: redeemer, data: '0x12345678', value: '0' }, '1')).rejects.toMatchObject({
      code: 'CALL_UNJUSTIFIED',
    })
    await expect(policy.proveCall({ to: bridge, data: complete[0]!, value: '0' }, '1')).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
    for (const start of [complete[1]!, `${complete[1]!}${'00'.repeat(32)}`])
      expect(codeOf(() => policyOf({ operatorCalls: { [bridge]: ['0x12345678', start] } }))).toBe('CONFIG_INVALID')
  })

  test('two bridges may deliver by the same call: one that proves it suffices, and an outage is no refusal', async () => {
    const calls = { [redeemer]: ['0x12345678'] }
    const route = { bridge: 'one', sourceChain: 'there', targetChain: 'here' }
    const proved = async () => ['there']
    const refusing = (code: ErrorCode) => () => Promise.reject(new RelayerError(code))
    const prove = (...proofs: readonly (() => Promise<readonly string[]>)[]) =>
      signingPolicy({
        ...{ chainName: 'here', chain: here, lane: { address: mine.address }, dataFee: async () => '0', finalNonce: async () => 0 },
        spendingFolder: '/none',
        bridges: proofs.map((proveCall) => ({ bridge: 'one', calls, proveCall })),
        settings: () => noSettings,
      }).proveCall({ to: redeemer, data: '0x12345678', value: '0' }, '1')
    await expect(prove(refusing('CALL_UNJUSTIFIED'), proved)).resolves.toEqual([route])
    await expect(prove(refusing('NODE_UNAVAILABLE'), proved)).resolves.toEqual([route])
    await expect(prove(refusing('CALL_UNJUSTIFIED'), refusing('CALL_UNJUSTIFIED'))).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
    await expect(prove(refusing('NODE_UNAVAILABLE'), refusing('CALL_UNJUSTIFIED'))).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
    await expect(prove(refusing('CALL_UNJUSTIFIED'), refusing('NODE_UNAVAILABLE'))).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
  })

  test('with automatic top-ups only the configured lane pays other lanes, within the limits of the config', () => {
    const topUp = { from: other.address, minimum: '1', level: '9', maxPaymentWei: '5', maxPerDayWei: '7' }
    const on = { signing: { ...signing, topUps: true }, topUp }
    expect(policyOf({ address: other.address }, on)).toMatchObject({ topUps: true, topUpLimits: { maxPaymentWei: '5', maxPerDayWei: '7' } })
    const mines = policyOf({}, on)
    expect([mines.topUps, mines.fieldOf('topUps'), mines.fieldOf('topUpLimits')]).toEqual([
      false,
      'chains.here.topUp.from',
      'chains.here.topUp',
    ])
    expect(policyOf({ address: other.address }, { ...on, signing })).toMatchObject({ topUps: false })
  })

  test('limits come from the chain or the lane, and a refusal names the field', () => {
    const limits = { maxTipPerGasWei: '5', maxPaymentWei: '7' }
    const policy = policyOf({ signing: limits })
    expect(policy.limits).toEqual({ ...signing, ...limits, maxGasPerTransaction: '16777216' })
    expect([policy.fieldOf('maxTipPerGasWei'), policy.fieldOf('maxGasPerTransaction'), policy.fieldOf('payees')]).toEqual([
      `chains.here.lanes[${mine.address}].signing.maxTipPerGasWei`,
      'chains.here.signing.maxGasPerTransaction',
      'chains.here.treasury',
    ])
  })
})

describe('a signing service that is not there when a process starts', () => {
  const policy = testPolicy()
  const noop = { networkId: '1', nonce: 0, to: mine.address, data: '0x', value: '0', gasLimit: '21000', maxFee: '2', tip: '1' }
  const logger = createLogger({ level: 'silent' })

  test('an offline signing service is asked again with every signature', async () => {
    const port = await freePort()
    const spec = { kind: 'remote' as const, url: `http://127.0.0.1:${port}`, timeoutMs: 10_000 }
    const signer = await openSigner(mine.address, () => createSigner(spec, mine.address, policy), logger)
    await expect(signer.sign(noop)).rejects.toMatchObject({ code: 'SIGNER_OFFLINE', retriable: true })
    const service = await startWeb3Signer([mine], port)
    try {
      expect((await signer.sign(noop)).signingHash).toMatch(/^0x/)
      await expect(signer.sign({ ...noop, to: other.address })).rejects.toMatchObject({ code: 'SIGNING_REFUSED' })
    } finally {
      await service.stop()
    }
  })

  test('a missing key in the signing service ends the start', async () => {
    const service = await startWeb3Signer([other])
    try {
      const spec = { kind: 'remote' as const, url: service.url, timeoutMs: 10_000 }
      await expect(openSigner(mine.address, () => createSigner(spec, mine.address, policy), logger)).rejects.toMatchObject({
        code: 'SIGNER_UNAVAILABLE',
      })
    } finally {
      await service.stop()
    }
  })
})
