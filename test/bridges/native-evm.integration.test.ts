import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callsOf } from '../helpers/node-calls.ts'
import { batchIntent } from '../../bridges/native-bridge/calls.ts'
import { type Bisection, bisection, tried } from '../../domain/batch/bisection.ts'
import { createTokenDecimals, tokenAbi } from '../../bridges/native-bridge/contracts.ts'
import { createEvmEndpoint } from '../../bridges/native-bridge/evm.ts'
import { chainTime } from '../../chains/heads.ts'
import { createInboundLimits, fitting } from '../../bridges/native-bridge/inbound-limits.ts'
import { createVerifiedMessages } from '../../bridges/kit/verified-messages.ts'
import { createRoutes, idOf, type NativeTransfer, readMessage, toTransfer, writeMessage } from '../../bridges/native-bridge/message.ts'
import { createVerifier } from '../../bridges/native-bridge/verify.ts'
import { accountIndex, freshAddress } from '../../lab/devnet/chain/accounts.ts'
import { initiate, type NativeBridgeVariant } from '../../lab/devnet/native/native-bridge.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { devnetSigner } from '../helpers/evm.ts'
import { type NativeBridgeNetwork, startNativeBridge } from '../helpers/native-bridge.ts'
import { codeOf, codeOfAsync } from '../helpers/refusals.ts'

/** Daily cap, a quarter of the fund, in wei. The amounts of a day must add up to less than the cap. */
const cap = 10n ** 17n / 4n
const daySeconds = 86_400

describe.each<NativeBridgeVariant>(['strict', 'fixed'])('the %s native bridge on real chains', (variant) => {
  let network: NativeBridgeNetwork
  beforeAll(async () => {
    network = await startNativeBridge(variant)
    const token = { address: network.source.token, contract: 'BridgeToken' } as const
    await network.source.admin('mint', [network.source.user.address, 10n ** 20n], token)
  })
  afterAll(() => network?.stop())

  const balance = async (owner: string) =>
    BigInt(await network.target.chain.call(network.target.token, tokenAbi.encodeFunctionData('balanceOf', [owner]), 'latest'))
  const one = async (amount: bigint): Promise<Transfer> => (await network.transfers(amount))[0]!
  const meaning = async (transfer: Transfer, from = network.relayer.address) => {
    const simulation = await network.target.chain.simulate(await network.endpoint.delivery(transfer).call(), from)
    return simulation.ok ? 'ok' : network.endpoint.explainRevert(simulation.revert, transfer)
  }
  /** Returns the state of the gate, as `reserve` does, but releases the reserved budget. */
  const gate = async (transfer: Transfer, from = network.relayer.address) => {
    const answer = await network.endpoint.reserve(transfer, from)
    network.endpoint.release(transfer)
    return answer
  }
  /** Begins a new day on the target, which frees the whole budget. */
  const nextDay = async () => {
    const tomorrow = (Math.floor(chainTime(network.target.chain) / daySeconds) + 1) * daySeconds
    await network.target.anvil.rpc('evm_setNextBlockTimestamp', [tomorrow])
    await network.target.mine()
    return tomorrow
  }

  test('the native bridge delivers to the recipient, and names recipient and token', async () => {
    const transfer = await one(700n)
    const { recipient, token } = network.endpoint.delivery(transfer).parties
    expect(token).toBe(`1337/${network.source.bridge.slice(2).padStart(64, '0')}`)
    const intent = await network.endpoint.delivery(transfer).call()
    expect(network.endpoint.calls).toEqual({
      [network.target.bridge]: [intent.data.slice(0, 10), expect.stringMatching(/^0x[0-9a-f]{8}$/)],
    })
    expect(network.endpoint.hasEffect(await network.deliver(intent), transfer)).toBe(true)
    expect(await balance(recipient)).toBe(700n)
  })

  test('the native bridge delivers to a recipient whose first 12 bytes are not zero', async () => {
    const to = `0x${'5e'.repeat(12)}${freshAddress().slice(2)}`
    const [started] = await initiate(network.source, [{ to, amount: 9n }])
    await network.source.finalise()
    const transfer = toTransfer(network.route, started!)
    expect(await network.endpoint.validate(transfer)).toMatchObject({ kind: 'valid' })
    expect(network.endpoint.hasEffect(await network.deliver(await network.endpoint.delivery(transfer).call()), transfer)).toBe(true)
    expect([network.endpoint.delivery(transfer).parties.recipient, await balance(`0x${to.slice(26)}`)]).toEqual([`0x${to.slice(26)}`, 9n])
  })

  describe('verifies by the table of the source', () => {
    test('a native message waits until the table of its source is final', async () => {
      const [started] = await network.start(3n)
      const transfer = toTransfer(network.route, started!)
      expect(await network.endpoint.validate(transfer)).toMatchObject({ kind: 'wait', code: 'NATIVE_NOT_FINAL' })
      await network.source.finalise()
      expect(await network.endpoint.validate(transfer)).toEqual({ kind: 'valid' })
    })

    test('a native message that differs from the table is rejected with the recorded entry', async () => {
      const good = readMessage(Buffer.from((await one(4n)).message, 'base64'))
      const raised = { ...good, amount: 5n }
      const verdict = await network.endpoint.verify(writeMessage({ ...raised, id: idOf(raised) }))
      expect(verdict).toMatchObject({ kind: 'rejected', code: 'NATIVE_TABLE_MISMATCH', reason: expect.stringContaining(good.id) })
      expect(await network.endpoint.verify(writeMessage(raised))).toMatchObject({ kind: 'rejected', code: 'NATIVE_ID_MISMATCH' })
      expect(await network.endpoint.verify(writeMessage({ ...good, sourceNetworkId: 5n }))).toMatchObject({ code: 'NATIVE_ROUTE_UNKNOWN' })
    })

    test('a native message gets no verdict while the source does not answer as its contract does', async () => {
      const transfer = await one(6n)
      const elsewhere = { ...network.route, sourceBridge: freshAddress(), source: network.source.chain }
      const endpoint = createEvmEndpoint({ chain: network.target.chain, routes: [elsewhere] })
      const message = { ...readMessage(Buffer.from(transfer.message, 'base64')), sourceBridge: elsewhere.sourceBridge }
      expect(await codeOfAsync(() => endpoint.verify(writeMessage(message)))).toBe('NODE_REFUSED')
      const stray = { ...elsewhere, targetChain: 'third' }
      expect(codeOf(() => createEvmEndpoint({ chain: network.target.chain, routes: [stray] }))).toBe('CONFIG_INVALID')
    })

    test('a valid native message is remembered for a while, and no longer', async () => {
      const bytes = Buffer.from((await one(8n)).message, 'base64')
      let now = 0
      let reads = 0
      const source = {
        name: 'source',
        call: (...args: Parameters<typeof network.source.chain.call>) => {
          reads++
          return network.source.chain.call(...args)
        },
      }
      const routes = createRoutes([{ ...network.route, source }])
      const verify = createVerifier(routes, createVerifiedMessages({ rememberMs: 1_000, clock: () => now }))
      for (const at of [1, 1_000]) {
        now = at
        await verify(bytes)
      }
      expect(reads).toBe(1)
      now = 1_002
      await verify(bytes)
      expect(reads).toBe(2)
    })
  })

  test('an id that the target completed under another nonce raises an alarm', async () => {
    const transfer = await one(10n)
    const read = network.target.chain
    // An honest contract never returns a different nonce, because the id is a hash that includes the nonce.
    const lying = { ...read, call: async () => `0x${'0'.repeat(63)}1` }
    const endpoint = createEvmEndpoint({ chain: lying, routes: [{ ...network.route, source: network.source.chain }] })
    expect(await codeOfAsync(() => endpoint.delivered(transfer, 'latest'))).toBe('NATIVE_NONCE_MISMATCH')
    // Only one node shows the wrong nonce, so nothing is parked.
    const alone = {
      ...read,
      call: async (...[, , at]: Parameters<typeof read.call>) => `0x${'0'.repeat(63)}${at?.startsWith('agreed') ? 0 : 1}`,
    }
    const doubting = createEvmEndpoint({ chain: alone, routes: [{ ...network.route, source: network.source.chain }] })
    expect([await doubting.delivered(transfer, 'latest'), await doubting.delivered(transfer, 'finalized')]).toEqual([false, false])
  })

  test('the decimals of a native transfer are those of the token that the target pays out', async () => {
    const decimals = createTokenDecimals([{ ...network.route, target: network.target.chain }])
    expect(await decimals(network.route)).toBe(8)
    expect(await decimals({ ...network.route, sourceChain: 'elsewhere' })).toBeUndefined()
  })

  test('a completion log that contradicts itself or cannot be read is ignored', async () => {
    const transfer = await one(12n)
    const receipt = await network.deliver(await network.endpoint.delivery(transfer).call())
    expect(network.endpoint.hasEffect(receipt, transfer)).toBe(true)
    const forged = (data: (before: string) => string) => ({
      ...receipt,
      logs: receipt.logs.map((log) => ({ ...log, data: data(log.data) })),
    })
    // The first forged log has a wrong amount, and the second has too few bytes.
    for (const data of [(before: string) => before.replace(/^0x0/, '0x1'), () => '0x12']) {
      expect(network.endpoint.hasEffect(forged(data), transfer)).toBe(false)
    }
    const lying = {
      ...network.target.chain,
      async logs(...args: Parameters<typeof network.target.chain.logs>) {
        return (await network.target.chain.logs(...args)).map((log) => ({ ...log, data: log.data.replace(/^0x0/, '0x1') }))
      },
    }
    const routes = [{ ...network.route, source: network.source.chain }]
    expect(await createEvmEndpoint({ chain: lying, routes }).findDelivery(transfer)).toBeUndefined()
    expect(await network.endpoint.findDelivery(transfer)).toMatchObject({ txHash: receipt.hash })
  })

  test('the gate is closed for a lane without the role', async () => {
    const transfer = await one(11n)
    const stranger = await devnetSigner(accountIndex.outsider)
    expect(await gate(transfer)).toEqual({ kind: 'open' })
    expect(await gate(transfer, stranger.address)).toMatchObject({ kind: 'lane', code: 'BRIDGE_ROLE_MISSING' })
    expect(await meaning(transfer, stranger.address)).toMatchObject({ kind: 'wait', code: 'BRIDGE_ROLE_MISSING' })
  })

  test('the gate closes when the budget of the day is spent, and says when it opens', async () => {
    await nextDay()
    const [big, small, rest] = await network.transfers(cap - 10n, 10n, 9n)
    await network.deliver(await network.endpoint.delivery(big!).call())
    const { day, used } = await createInboundLimits(network.target.chain, network.target.bridge).read(network.relayer.address)
    expect([day, used]).toEqual([Math.floor(chainTime(network.target.chain) / daySeconds), cap - 10n])
    expect(await gate(small!)).toMatchObject({ kind: 'route', code: 'BRIDGE_BUDGET', opensAt: (day + 1) * daySeconds })
    expect(await meaning(small!)).toMatchObject({ kind: 'wait', code: 'BRIDGE_BUDGET', reason: expect.stringContaining('renews') })
    expect([await gate(rest!), await meaning(rest!)]).toEqual([{ kind: 'open' }, 'ok'])
    // The revert of a completed transfer shows only the spent budget. The contract's table shows the completion.
    expect([await meaning(big!), await network.endpoint.delivered(big!, 'latest')]).toMatchObject([{ code: 'BRIDGE_BUDGET' }, true])
    await nextDay()
    expect([await gate(small!), await meaning(small!)]).toEqual([{ kind: 'open' }, 'ok'])
  })

  test('the gate lets transfers through that fit together, until they are on the chain or released', async () => {
    await nextDay()
    const [first, second, third] = await network.transfers(cap - 100n, 60n, 60n)
    const ask = (transfer: Transfer) => network.endpoint.reserve(transfer, network.relayer.address)
    const calls = () => callsOf(network.target.chain, 'eth_call')
    expect(await ask(first!)).toEqual({ kind: 'open' })
    const before = calls()
    // `first` has a reservation already. Of `second` and `third`, only one fits.
    expect([await ask(first!), await ask(second!)]).toEqual([{ kind: 'open' }, { kind: 'open' }])
    expect(await ask(third!)).toMatchObject({ kind: 'route', code: 'BRIDGE_BUDGET', reason: expect.stringContaining('on its way') })
    expect(calls()).toBe(before)
    await network.deliver(await network.endpoint.delivery(first!).call())
    network.endpoint.release(second!)
    // After the next block, the delivered transfer counts as used budget, and no longer as a reservation.
    await network.target.mine()
    expect(await ask(third!)).toEqual({ kind: 'open' })
    expect(await ask(second!)).toMatchObject({ kind: 'route', code: 'BRIDGE_BUDGET' })
    network.endpoint.release(third!)
    const stranger = await devnetSigner(accountIndex.outsider)
    expect(await network.endpoint.unauthorized(network.relayer.address)).toBeUndefined()
    expect(await network.endpoint.unauthorized(stranger.address)).toMatchObject({
      everywhere: true,
      reason: expect.stringContaining('RELAYER_ROLE'),
    })
  })

  test('an amount that is not below the daily cap is parked until the cap is raised', async () => {
    await nextDay()
    const transfer = await one(cap)
    expect(await gate(transfer)).toMatchObject({ kind: 'transfer', code: 'BRIDGE_CAP' })
    expect(await meaning(transfer)).toMatchObject({ kind: 'wait', code: 'BRIDGE_CAP' })
    await network.target.admin('mint', [network.target.insuranceFund, 4n], { address: network.target.token, contract: 'BridgeToken' })
    expect([await gate(transfer), await meaning(transfer)]).toEqual([{ kind: 'open' }, 'ok'])
    // The new fund is empty.
    await network.target.admin('setInsuranceFund', [freshAddress()])
    expect(await gate(transfer)).toMatchObject({ kind: 'route', code: 'BRIDGE_BUDGET', reason: expect.stringContaining('empty') })
    expect(await meaning(transfer)).toMatchObject({ kind: 'wait', code: 'BRIDGE_BUDGET' })
    await network.target.admin('setInsuranceFund', [network.target.insuranceFund])
    expect(await gate(transfer)).toEqual({ kind: 'open' })
  })

  test('a native transfer waits while the pool cannot pay', async () => {
    await nextDay()
    const transfer = await one(cap - 1n)
    const pool = await balance(network.target.bridge)
    const spent: bigint[] = []
    for (let left = pool; left >= cap - 1n; left -= cap - 1n) spent.push(cap - 1n)
    for (const each of await network.transfers(...spent)) {
      await network.deliver(await network.endpoint.delivery(each).call())
      await nextDay()
    }
    expect([await gate(transfer), await meaning(transfer)]).toMatchObject([{ kind: 'open' }, { kind: 'wait', code: 'BRIDGE_POOL_EMPTY' }])
    await network.target.admin('mint', [network.target.bridge, pool], { address: network.target.token, contract: 'BridgeToken' })
    expect(await meaning(transfer)).toBe('ok')
  })

  test('batches are completed without their bad transfers, and within the budget', async () => {
    await nextDay()
    const good = (await network.transfers(...Array.from({ length: 22 }, (_, index) => BigInt(index + 1)))).map(opened)
    const wrong = (transfer: NativeTransfer): NativeTransfer => ({ ...transfer, amount: transfer.amount + 1n })
    const all = good.map((transfer, index) => (index === 3 || index === 21 ? wrong(transfer) : transfer))
    let state: Bisection<NativeTransfer> = bisection()
    let waiting = all
    let tries = 0
    const isolated: NativeTransfer[] = []
    for (; state.halves.length > 0 || waiting.length > 0; tries++) {
      const [half] = state.halves
      const batch = half ?? waiting.slice(0, state.size)
      if (!half) waiting = waiting.slice(state.size)
      const intent = batchIntent(network.target.bridge, batch)
      const simulation = await network.target.chain.simulate(intent, network.relayer.address)
      if (!simulation.ok) expect(network.endpoint.explainRevert(simulation.revert)).toMatchObject({ kind: 'permanent' })
      else expect((await network.deliver(intent)).status).toBe('success')
      if (!simulation.ok && batch.length === 1) isolated.push(...batch)
      state = tried(state, batch, simulation.ok ? 'completed' : 'failed')
    }
    expect(isolated.map(({ nonce }) => nonce)).toEqual([good[3]!.nonce, good[21]!.nonce])
    expect(tries).toBeLessThanOrEqual(15)
    const delivered = await Promise.all(good.map((transfer) => network.endpoint.delivered(toTransfer(network.route, transfer), 'latest')))
    expect(delivered).toEqual(good.map((_, index) => index !== 3 && index !== 21))

    await nextDay()
    const reader = createInboundLimits(network.target.chain, network.target.bridge)
    const many = (await network.transfers(cap / 2n, cap / 4n, cap / 2n, cap / 8n)).map(opened)
    const chosen = fitting(await reader.read(network.relayer.address), many, chainTime(network.target.chain))
    expect(chosen).toEqual([many[0], many[1], many[3]])
    expect(await network.target.chain.simulate(batchIntent(network.target.bridge, many), network.relayer.address)).toMatchObject({
      ok: false,
    })
    expect((await network.deliver(batchIntent(network.target.bridge, chosen))).status).toBe('success')
  })

  test('a native transfer waits while the contract is paused; the strict contract cannot be paused', async () => {
    const transfer = await one(12n)
    const toggled = await network.target.admin('togglePause', []).then(
      () => true,
      () => false,
    )
    expect(toggled).toBe(variant === 'fixed')
    expect(await gate(transfer)).toMatchObject(toggled ? { kind: 'route', code: 'BRIDGE_PAUSED' } : { kind: 'open' })
    if (toggled) await network.target.admin('togglePause', [])
    expect(await gate(transfer)).toEqual({ kind: 'open' })
  })
})

function opened({ message }: Transfer): NativeTransfer {
  const { id, initiator, recipient, amount, nonce } = readMessage(Buffer.from(message, 'base64'))
  return { id, initiator, recipient, amount, nonce }
}
