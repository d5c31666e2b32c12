import { concat, id, toBeHex } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callsOf } from '../helpers/node-calls.ts'
import { createPluginEndpoint } from '../../bridges/kit/plugin-bridge.ts'
import { findDelivery } from '../../bridges/kit/logs.ts'
import { createGuardianSets, createVerifier } from '../../bridges/kit/signed-messages.ts'
import type { Verdict } from '../../bridges/port.ts'
import type { Revert } from '../../chains/port.ts'
import { devnetGuardians, freshAddress } from '../../lab/devnet/chain/accounts.ts'
import { governance, type Message, signVaa as signBy, toUniversal } from '../../lab/devnet/wormhole/vaa.ts'
import { artifact } from '../../lab/devnet/chain/contracts.ts'
import { codeOfAsync } from '../helpers/refusals.ts'
import { tokenBridgeMessages } from '../../lab/devnet/wormhole/token-bridge-messages.ts'
import { deployReverting } from '../helpers/reverting.ts'
import { startTokenBridge, type TokenBridgeNetwork } from '../helpers/token-bridge.ts'
import { transferPayload } from '../helpers/vaa.ts'
import { chainTime } from '../../chains/heads.ts'

const selector = (method: string) => id(`${method}(bytes)`).slice(0, 10)
const erc20 = artifact('TokenImplementation').abi

describe('the token bridge on a real chain', () => {
  let network: TokenBridgeNetwork
  beforeAll(async () => {
    network = await startTokenBridge()
  })
  afterAll(() => network?.stop())

  const decode = (message: { bytes: Uint8Array }, settings?: object) => {
    const bridge = network.bridge(settings)
    return { transfer: bridge.decode(message.bytes), endpoint: bridge.endpoints.get('ethereum')! }
  }
  const validate = (message: { bytes: Uint8Array }, settings?: object): Promise<Verdict> => {
    const { transfer, endpoint } = decode(message, settings)
    return endpoint.validate(transfer)
  }
  const balance = async (token: string, owner: string) =>
    BigInt(await network.chain.call(token, erc20.encodeFunctionData('balanceOf', [owner]), 'latest'))
  const coin = async (owner: string) => BigInt(await network.ethereum.anvil.rpc<string>('eth_getBalance', [owner, 'latest']))

  describe('deliveries of the Wormhole adapter', () => {
    test('the Wormhole adapter mints a token of another chain, and pays the fee to the deliverer', async () => {
      const to = freshAddress()
      const { transfer, endpoint } = decode(network.message({ to: toUniversal(to), amount: 500n, fee: 20n }))
      const intent = await endpoint.delivery(transfer).call()
      expect([intent.to, intent.data.slice(0, 10), intent.value]).toEqual([network.ethereum.tokenBridge, selector('completeTransfer'), '0'])
      const before = await balance(network.ethereum.wrappedToken, network.signer.address)
      expect(endpoint.hasEffect(await network.deliver(intent), transfer)).toBe(true)
      expect(await balance(network.ethereum.wrappedToken, to)).toBe(480n * 10n ** 10n)
      expect((await balance(network.ethereum.wrappedToken, network.signer.address)) - before).toBe(20n * 10n ** 10n)
    })

    test('the Wormhole adapter unwraps the coin of its own chain, and nothing else', async () => {
      const { weth, token, tokenBridge, wrappedWeth } = network.ethereum
      const to = freshAddress()
      const home = decode(network.message({ to: toUniversal(to), token: toUniversal(weth), tokenChain: 2, amount: 700n }))
      const intent = await home.endpoint.delivery(home.transfer).call()
      expect([intent.to, intent.data.slice(0, 10)]).toEqual([tokenBridge, selector('completeTransferAndUnwrapETH')])
      expect(home.endpoint.hasEffect(await network.deliver(intent), home.transfer)).toBe(true)
      expect(await coin(to)).toBe(700n * 10n ** 10n)

      const others = [
        { token: toUniversal(token), tokenChain: 2 },
        { token: toUniversal(network.bsc.weth), tokenChain: 4 },
        // The same address on another chain is a different token.
        { token: toUniversal(weth), tokenChain: 4 },
        { token: toUniversal(wrappedWeth), tokenChain: 2 },
      ]
      for (const fields of others) {
        const { transfer, endpoint } = decode(network.message(fields))
        expect((await endpoint.delivery(transfer).call()).data.slice(0, 10)).toBe(selector('completeTransfer'))
      }
    })

    test('the Wormhole adapter delivers the highest sequence that exists', async () => {
      const { transfer, endpoint } = decode(network.message({}, { sequence: 2n ** 64n - 1n }))
      expect(transfer.sequence).toBe('18446744073709551615')
      const receipt = await network.deliver(await endpoint.delivery(transfer).call())
      expect([endpoint.hasEffect(receipt, transfer), await endpoint.delivered(transfer, 'latest')]).toEqual([true, true])
      expect(await endpoint.findDelivery(transfer)).toMatchObject({ by: network.signer.address, txHash: receipt.hash })
    })

    test('a contract that rejects the coin gets the wrapped coin, by a call that does not run its code', async () => {
      const { weth, tokenBridge } = network.ethereum
      // A contract that accepts coins only at gas price 0: GASPRICE ISZERO PUSH1 8 JUMPI PUSH0 PUSH0 REVERT JUMPDEST
      // STOP.
      const contract = freshAddress()
      await network.ethereum.anvil.rpc('anvil_setCode', [contract, '0x3a156008575f5ffd5b00'])
      const { transfer, endpoint } = decode(
        network.message({ to: toUniversal(contract), token: toUniversal(weth), tokenChain: 2, amount: 700n }),
      )
      const { call } = endpoint.delivery(transfer)
      const reverted = await network.deliver(await call())
      expect([reverted.status, await endpoint.delivered(transfer, 'latest')]).toEqual(['reverted', false])
      const intent = await call('wrapped')
      expect([intent.to, intent.data.slice(0, 10)]).toEqual([tokenBridge, selector('completeTransfer')])
      await endpoint.proveCall(intent)
      expect(endpoint.hasEffect(await network.deliver(intent), transfer)).toBe(true)
      expect([await coin(contract), await balance(weth, contract)]).toEqual([0n, 700n * 10n ** 10n])
    })

    test('the Wormhole adapter redeems a payload 3 through the contract that is configured for it', async () => {
      const contract = network.ethereum.redeemer
      const payload = { kind: 3, to: toUniversal(contract), rest: '0xabcdef' }
      const settings = { calls: { ethereum: { [contract]: 'completeTransferWithPayload(bytes)' } } }
      expect(await validate(network.message(payload))).toMatchObject({ kind: 'declined', code: 'PAYLOAD_WITH_CALL' })
      const other = { calls: { ethereum: { [freshAddress()]: 'completeTransferWithPayload(bytes)' } } }
      expect(await validate(network.message(payload), other)).toMatchObject({ kind: 'declined', code: 'PAYLOAD_WITH_CALL' })

      const { transfer, endpoint } = decode(network.message(payload), settings)
      expect(await endpoint.validate(transfer)).toMatchObject({ kind: 'valid' })
      const intent = await endpoint.delivery(transfer).call()
      expect([intent.to, intent.data.slice(0, 10)]).toEqual([contract, selector('completeTransferWithPayload')])
      expect(endpoint.hasEffect(await network.deliver(intent), transfer)).toBe(true)
      expect(await balance(network.ethereum.wrappedToken, contract)).toBe(10n ** 18n)
    })
  })

  describe('refusals of the Wormhole adapter', () => {
    test.each([
      ['another contract of a registered chain', { emitter: 'ab'.repeat(32) }, 'EMITTER_UNKNOWN'],
      ['a chain whose token bridge is not registered', { emitterChain: 5 }, 'EMITTER_UNKNOWN'],
      ['the target itself', { emitterChain: 2 }, 'EMITTER_UNKNOWN'],
    ])('a message is rejected if its emitter is %s', async (_, fields, code) => {
      expect(await validate(network.message({}, fields))).toMatchObject({ kind: 'rejected', code })
    })

    test('a message is rejected if it is for another chain than its transfer', async () => {
      const { transfer } = decode(network.message({ toChain: 4 }))
      expect(transfer.targetChain).toBe('bsc')
      const { endpoint } = decode(network.message())
      expect(await endpoint.validate({ ...transfer, targetChain: 'ethereum' })).toMatchObject({
        kind: 'rejected',
        code: 'MESSAGE_MISMATCH',
      })
    })

    test('tokens that are not in the allow-list are refused', async () => {
      const origin = `4/${toUniversal(network.bsc.token)}`
      expect(await validate(network.message(), { assets: [origin], freeRoutes: [{ target: 'ethereum' }] })).toMatchObject({ kind: 'valid' })
      expect(await validate(network.message(), { assets: [`2/${toUniversal(network.bsc.token)}`] })).toMatchObject({
        kind: 'declined',
        code: 'ASSET_UNSUPPORTED',
      })
      expect(await validate(network.message(), { assets: [] })).toMatchObject({ kind: 'declined', code: 'ASSET_UNSUPPORTED' })
    })

    test('fees below the least of the target chain and token are refused', async () => {
      const settings = { minimumFees: { ethereum: { [`4/0x${toUniversal(network.bsc.token).toUpperCase()}`]: '10' } } }
      expect(await validate(network.message({ fee: 10n }), settings)).toMatchObject({ kind: 'valid' })
      expect(await validate(network.message({ fee: 9n }), settings)).toMatchObject({ kind: 'declined', code: 'FEE_TOO_LOW' })
      expect(await validate(network.message({ fee: 9n }), settings)).toMatchObject({ reason: expect.stringContaining('minimum=10') })
    })

    test('a token without a configured fee is refused at any offered fee, unless the route is free', async () => {
      const elsewhere = { minimumFees: { bsc: { [`4/${toUniversal(network.bsc.token)}`]: '10' } } }
      const otherRoutes = { freeRoutes: [{ target: 'bsc' }, { source: 'avalanche', target: 'ethereum' }] }
      for (const settings of [{}, elsewhere, otherRoutes]) {
        const verdict = await validate(network.message({ fee: 50n }), settings)
        expect(verdict).toMatchObject({ kind: 'declined', code: 'FEE_NOT_CONFIGURED' })
      }
      for (const route of [{ target: 'ethereum' }, { source: 'bsc', target: 'ethereum' }]) {
        expect(await validate(network.message({ fee: 0n }), { freeRoutes: [route] })).toMatchObject({ kind: 'valid' })
      }
      const { transfer, endpoint } = decode(network.message({ fee: 0n }), { freeRoutes: [{ source: 'avalanche', target: 'ethereum' }] })
      expect(await endpoint.validate({ ...transfer, sourceChain: 'avalanche' })).toMatchObject({ code: 'FEE_NOT_CONFIGURED' })
    })

    test('no message gets a verdict if an address in the config is not that of the contract', async () => {
      const { transfer, endpoint } = decode(network.message())
      const { core, tokenBridge } = network.ethereum
      const wrong = (addresses: { core?: string; tokenBridge?: string }) => {
        const verify = createVerifier(createGuardianSets(network.chain, addresses.core ?? core), () => chainTime(network.chain))
        const chainNames = new Map([[2, network.chain.name]])
        const { product, messages } = tokenBridgeMessages(chainNames, { ethereum: { tokenBridge, ...addresses } })
        return createPluginEndpoint(product, messages, { chain: network.chain, clock: () => 0, chainNames, verify })
      }
      expect(await codeOfAsync(() => wrong({ core: freshAddress() }).validate(transfer))).toBe('NODE_REFUSED')
      expect(await codeOfAsync(() => wrong({ tokenBridge: freshAddress() }).validate(transfer))).toBe('NODE_REFUSED')
      expect(await codeOfAsync(() => wrong({ tokenBridge: freshAddress() }).delivered(transfer, 'latest'))).toBe('NODE_REFUSED')
      expect(await endpoint.validate(transfer)).toMatchObject({ kind: 'valid' })
    })
  })

  describe('reverts of the Wormhole adapter', () => {
    const meaning = async (message: { bytes: Uint8Array }, check?: (simulation: { revert: Revert }) => void) => {
      const { transfer, endpoint } = decode(message)
      const simulation = await network.chain.simulate(await endpoint.delivery(transfer).call(), network.signer.address)
      if (!simulation.ok) check?.(simulation)
      return simulation.ok ? 'no revert' : endpoint.explainRevert(simulation.revert, transfer)
    }

    test('a token without a wrapper waits', async () => {
      expect(await meaning(network.message({ token: 'cd'.repeat(32) }))).toMatchObject({ kind: 'wait', code: 'WRAPPER_MISSING' })
    })

    test.each([
      ['reason', 'transfer already completed', 'delivered'],
      ['data', '0xa792dfa3', 'unknown'],
    ] as const)(
      'a recipient whose revert %s imitates an error of the bridge (%s) proves nothing about the bridge',
      async (part, says, kind) => {
        const { address } = await deployReverting(network.ethereum.anvil, says)
        const coin = { to: toUniversal(address), token: toUniversal(network.ethereum.weth), tokenChain: 2, amount: 7n }
        expect(await meaning(network.message(coin), ({ revert }) => expect(revert[part]).toBe(says))).toMatchObject({ kind })
      },
    )

    test('a transfer of more native tokens than the bridge holds waits', async () => {
      const token = { token: toUniversal(network.ethereum.token), tokenChain: 2, amount: 10n ** 20n }
      expect(await meaning(network.message(token))).toMatchObject({ kind: 'wait', code: 'DELIVERY_REVERTED' })
    })

    test('a fee above the amount can never be delivered', async () => {
      expect(await meaning(network.message({ amount: 1n, fee: 2n }))).toMatchObject({ kind: 'permanent', code: 'DELIVERY_IMPOSSIBLE' })
    })

    test('the contract refuses every message that the checks refuse', async () => {
      expect(await meaning(network.message({}, { emitter: 'ab'.repeat(32) }))).toMatchObject({ kind: 'permanent', code: 'EMITTER_UNKNOWN' })
      expect(await meaning(network.message({}, {}, { signers: [] }))).toMatchObject({ kind: 'permanent', code: 'VAA_NO_QUORUM' })
      expect(await meaning(network.message({}, {}, { setIndex: 1 }))).toMatchObject({ kind: 'wait', code: 'GUARDIAN_SET_UNKNOWN' })
      expect(await meaning(network.message({ kind: 3 }))).toMatchObject({ kind: 'permanent', code: 'PAYLOAD_WITH_CALL' })
    })
  })

  test('the second message of a kind costs the token bridge no more reads', async () => {
    const bridge = network.bridge()
    const endpoint = bridge.endpoints.get('ethereum')!
    const pass = async () => {
      const transfer = bridge.decode(network.message().bytes)
      await endpoint.verify(Buffer.from(transfer.message, 'base64'))
      await endpoint.validate(transfer)
      await endpoint.delivery(transfer).call()
    }
    const calls = () => callsOf(network.chain, 'eth_call')
    await pass()
    const before = calls()
    await pass()
    expect(calls()).toBe(before)
  })

  test('the token bridge looks for a delivery in bounded ranges, newest first, and not for ever', async () => {
    const { transfer, endpoint } = decode(network.message())
    const receipt = await network.deliver(await endpoint.delivery(transfer).call())
    const reads = async () => {
      let asked = 0
      const chain: typeof network.chain = { ...network.chain, logs: (range, at) => (asked++, network.chain.logs(range, at)) }
      const { product, messages } = tokenBridgeMessages(new Map([[2, 'ethereum']]), { ethereum: network.ethereum })
      const log = product.log!(messages.read(transfer.message).message)
      const found = await findDelivery(chain, log, { rangeBlocks: 4, depthBlocks: 10 })
      return [found?.txHash, asked]
    }
    expect(await reads()).toEqual([receipt.hash, 1])
    await network.mine(9)
    expect(await reads()).toEqual([receipt.hash, 3])
    await network.mine(1)
    expect(await reads()).toEqual([undefined, 3])
    expect(await endpoint.findDelivery(transfer)).toMatchObject({ by: network.signer.address, txHash: receipt.hash })
  })

  // This test comes last, because it changes the guardian set for good.
  test('the token bridge follows an upgrade of the guardian set: unknown, current, old, expired', async () => {
    const [first, second] = devnetGuardians(2)
    const bySecond = (sequence: bigint) => signBy(transferMessage(network, sequence), [second!], [0], 1)
    const old = network.message()
    const fresh = bySecond(90_000n)
    let now = 0
    const sets = createGuardianSets(network.chain, network.ethereum.core, () => now)
    const calls = () => callsOf(network.chain, 'eth_call')

    expect(await validate(fresh)).toMatchObject({ kind: 'wait', code: 'GUARDIAN_SET_UNKNOWN' })
    expect(await sets.get(0)).toMatchObject({ keys: [first!.address], current: true, expirationTime: 0 })
    // All VAAs that name future guardian sets share one read per second.
    now = 1_000
    const before = calls()
    expect(new Set(await Promise.all([1, 2, 2 ** 32 - 1].map((index) => codeOfAsync(() => sets.get(index)))))).toEqual(
      new Set(['GUARDIAN_SET_UNKNOWN', 'GUARDIAN_SET_IMPOSSIBLE']),
    )
    now = 1_999
    expect(await codeOfAsync(() => sets.get(1))).toBe('GUARDIAN_SET_UNKNOWN')
    expect(calls() - before).toBe(1)

    await upgrade(network, second!.address)
    expect(await validate(fresh)).toMatchObject({ kind: 'valid' })
    expect(await validate(old)).toMatchObject({ kind: 'valid' })
    now = 2_000
    expect(await sets.get(1)).toMatchObject({ keys: [second!.address], current: true })
    now = 70_000
    expect(await sets.get(0)).toMatchObject({ current: false })
    expect((await sets.get(0)).expirationTime).toBeGreaterThan(1_600_000_000)

    await network.ethereum.anvil.rpc('evm_increaseTime', [86_401])
    await network.mine(2)
    expect(await validate(old)).toMatchObject({ kind: 'rejected', code: 'GUARDIAN_SET_EXPIRED' })
    const { transfer, endpoint } = decode(old)
    const simulation = await network.chain.simulate(await endpoint.delivery(transfer).call(), network.signer.address)
    expect(simulation.ok || endpoint.explainRevert(simulation.revert)).toMatchObject({ kind: 'permanent', code: 'GUARDIAN_SET_EXPIRED' })
    expect(await validate(bySecond(90_001n))).toMatchObject({ kind: 'valid' })
  })
})

function transferMessage({ bsc }: TokenBridgeNetwork, sequence: bigint): Message {
  const payload = transferPayload({ token: toUniversal(bsc.token), tokenChain: 4, toChain: 2 })
  return { timestamp: 1, vaaNonce: 0, emitterChain: 4, emitter: toUniversal(bsc.tokenBridge), sequence, consistencyLevel: 1, payload }
}

/** Sends a governance message that installs a guardian set of one key (Governance.sol, submitNewGuardianSet). */
async function upgrade(network: TokenBridgeNetwork, guardian: string): Promise<void> {
  const core = toBeHex(BigInt('0x436f7265'), 32)
  const payload = concat([core, toBeHex(2, 1), toBeHex(0, 2), toBeHex(1, 4), toBeHex(1, 1), guardian])
  const by = { emitterChain: governance.chain, emitter: governance.emitter }
  const message = { timestamp: 1, vaaNonce: 0, ...by, sequence: 77n, consistencyLevel: 1, payload }
  const { bytes } = signBy(message, devnetGuardians(1))
  const data = artifact('Implementation').abi.encodeFunctionData('submitNewGuardianSet', [bytes])
  const receipt = await network.deliver({ to: network.ethereum.core, data, value: '0' })
  expect(receipt.status).toBe('success')
}
