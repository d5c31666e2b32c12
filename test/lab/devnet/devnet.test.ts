import { Interface } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { configSchema } from '../../../config/schema/schema.ts'
import { startDevnet, type Devnet } from '../../../lab/devnet/index.ts'
import { devnetTokenFeeWei } from '../../../lab/devnet/relayer-config.ts'
import { transferKinds, type SentTransfer } from '../../../lab/devnet/wormhole/users.ts'
import { subscribe } from './spy-client.ts'
import { queueRedeem, redeem } from './redeem.ts'

const ether = 10n ** 18n
const core = new Interface([
  'function parseAndVerifyVM(bytes) view returns (tuple(uint8,uint32,uint32,uint16,bytes32,uint64,uint8,bytes,uint32,tuple(bytes32,bytes32,uint8,uint8)[],bytes32) vm, bool valid, string reason)',
])

describe('the devnet', () => {
  let devnet: Devnet
  /** Four transfers from bsc, then four from ethereum, one of each kind. The first and third of each four pay a fee. */
  let sent: SentTransfer[]

  beforeAll(async () => {
    devnet = await startDevnet({ blockTimeSeconds: 0.5, guardians: 19, keysPerChain: 2, inMemory: true, ui: false })
  })

  afterAll(() => devnet?.stop())

  function chainOf(name: string) {
    return name === 'bsc' ? devnet.chains.bsc : devnet.chains.ethereum
  }

  function redeemBy(transfer: SentTransfer, vaa: Uint8Array, nonce?: number) {
    const outsider = transfer.target === 'bsc' ? devnet.outsiders.bsc : devnet.outsiders.ethereum
    return redeem(chainOf(transfer.target), outsider, vaa, { unwrap: transfer.asset === 'coin', ...(nonce === undefined ? {} : { nonce }) })
  }

  test("the devnet's config is accepted by the relayer, with a key for every lane", () => {
    const config = configSchema.parse(devnet.relayerConfig())
    const lanes = Object.values(config.chains).flatMap((chain) => chain.lanes)
    expect(lanes).toHaveLength(4)
    expect(new Set(lanes.map(({ address }) => address)).size).toBe(4)
    for (const { signer } of lanes) expect(devnet.env).toHaveProperty(signer?.kind === 'environment' ? signer.variable : '')
  })

  test('the devnet carries transfers of all kinds both ways: users, guardian, spy, REST', async () => {
    const { ethereum, bsc } = devnet.chains
    const emitterAddress = Buffer.from(ethereum.tokenBridge.slice(2).padStart(64, '0')).toString()
    const stream = subscribe(devnet.guardian.spy.address, [{ emitterFilter: { chainId: ethereum.wormholeChainId, emitterAddress } }])
    await expect.poll(() => devnet.guardian.spy.subscribers).toBe(1)
    const transfers = transferKinds.map((kind, index) => ({
      kind,
      amount: ether + BigInt(index) * 10n ** 12n + 7n,
      fee: index % 2 === 0 ? devnetTokenFeeWei : 0n,
    }))
    sent = (await Promise.all([devnet.users.bsc.send(transfers), devnet.users.ethereum.send(transfers)])).flat()
    expect(new Set(sent.map(({ emitterChain, sequence }) => `${emitterChain}/${sequence}`)).size).toBe(8)
    await stream.until(4)
    stream.close()

    const signed = await Promise.all(
      sent.map(({ emitterChain, emitter, sequence }) => devnet.guardian.waitFor(emitterChain, emitter, sequence)),
    )
    // The subscription must have only ethereum's messages, and none from the deployment.
    expect(stream.received.map((bytes) => bytes.toString('hex')).toSorted()).toEqual(
      signed
        .slice(4)
        .map(({ bytes }) => Buffer.from(bytes).toString('hex'))
        .toSorted(),
    )
    const { emitterChain, emitter, sequence } = sent[5] as SentTransfer
    const found = await fetch(`${devnet.guardian.apiUrl}/v1/signed_vaa/${emitterChain}/${emitter}/${sequence}`)
    expect([found.status, ((await found.json()) as { vaaBytes: string }).vaaBytes]).toEqual([
      200,
      Buffer.from(signed[5]?.bytes ?? []).toString('base64'),
    ])
    const data = core.encodeFunctionData('parseAndVerifyVM', [signed[5]?.bytes])
    const verdict = core.decodeFunctionResult(
      'parseAndVerifyVM',
      await bsc.anvil.rpc<string>('eth_call', [{ to: bsc.core, data }, 'latest']),
    )
    expect([verdict[1], verdict[2], verdict[0][9].length]).toEqual([true, '', 13])
  })

  test("the devnet's guardian answers REST requests for missing and malformed messages like a real one", async () => {
    const emitter = 'ab'.repeat(32)
    const ask = async (path: string) => {
      const response = await fetch(`${devnet.guardian.apiUrl}/v1/signed_vaa/${path}`)
      return [response.status, await response.json()]
    }
    expect(await ask(`2/${emitter}/18446744073709551615`)).toEqual([
      404,
      { code: 5, message: 'requested VAA not found in store', details: [] },
    ])
    expect(await ask(`2/${emitter.slice(2)}/1`)).toMatchObject([400, { code: 3 }])
    expect(await ask(`x/${emitter}/1`)).toMatchObject([400, { code: 3 }])
    expect(await ask(`2/${emitter}/-1`)).toMatchObject([400, { code: 3 }])
  })

  test('the checker finds missing and repeated deliveries, and who delivered', async () => {
    const before = await devnet.check(sent)
    expect(before).toMatchObject({ transfers: 8, delivered: 0, lost: 8, duplicates: 0, wrongBalances: 0 })
    const nonces = { ethereum: 0, bsc: 0 }
    await Promise.all(
      sent.slice(0, 7).map(async (transfer) => {
        const { bytes } = await devnet.guardian.waitFor(transfer.emitterChain, transfer.emitter, transfer.sequence)
        return redeemBy(transfer, bytes, nonces[transfer.target as 'bsc' | 'ethereum']++)
      }),
    )
    const after = await devnet.check(sent)
    expect(after).toMatchObject({
      transfers: 8,
      delivered: 7,
      lost: 1,
      duplicates: 0,
      wrongBalances: 0,
      revertedTransactions: 0,
      nonceHoles: 0,
    })
    expect(after.deliveredBy).toEqual({ [devnet.outsiders.ethereum.address]: 4, [devnet.outsiders.bsc.address]: 3 })
    // Other accounts delivered, so our lanes earned no fee.
    expect([after.feesEarned, after.maxPerLanePerBlock]).toEqual([{}, 0])
    const wrong = await devnet.check([{ ...(sent[0] as SentTransfer), fee: 1n }])
    expect(wrong).toMatchObject({ delivered: 0, wrongBalances: 1 })
  })

  test('the checker finds deliveries, reverts, missing nonces and pending transactions of lanes', async () => {
    const transfer = sent[7] as SentTransfer
    const { bytes } = await devnet.guardian.waitFor(transfer.emitterChain, transfer.emitter, transfer.sequence)
    const lane = devnet.lanes.find(({ chain }) => chain === transfer.target)
    if (!lane) throw new Error('no lane')
    const chain = chainOf(transfer.target)
    await redeem(chain, lane, bytes, { unwrap: false })
    await expect(redeem(chain, lane, bytes, { unwrap: false })).rejects.toThrow('transaction execution reverted')
    await queueRedeem(chain, lane, bytes, { unwrap: false, nonce: 3 })
    await expect
      .poll(async () => (await devnet.check(sent)).lanes.find(({ address }) => address === lane.address))
      .toMatchObject({ transactions: 2, reverted: 1, holes: 1, maxPerBlock: 1 })
    const result = await devnet.check(sent)
    expect(result).toMatchObject({ delivered: 8, lost: 0, revertedTransactions: 1, nonceHoles: 1 })
    expect(result.deliveredBy[lane.address]).toBe(1)
    expect(result.gasPaid[transfer.target]).toBeGreaterThan(0n)
  })

  test('the guardian signs messages that were published during its outage', async () => {
    const { guardian, users } = devnet
    await guardian.pause()
    const [late] = (await users.bsc.send([{ kind: 'coin', amount: ether }])) as [SentTransfer]
    expect(guardian.find(late.emitterChain, late.emitter, late.sequence)).toBeUndefined()
    guardian.resume()
    await guardian.waitFor(late.emitterChain, late.emitter, late.sequence)
    const signed = guardian.observations.filter(
      ({ message }) => message.sequence === late.sequence && message.emitterChain === late.emitterChain,
    )
    expect(signed).toHaveLength(1)
  })
})
