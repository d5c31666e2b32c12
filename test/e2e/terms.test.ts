import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../../config/load/load.ts'
import { bearer, makeToken } from '../../lab/devnet/access.ts'
import { artifact, Script } from '../../lab/devnet/chain/contracts.ts'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import { toUniversal } from '../../lab/devnet/wormhole/vaa.ts'
import { published } from '../../lab/devnet/wormhole/wormhole.ts'
import { runCli } from '../cli/run-cli.ts'
import { expectDelivered, expectNotDelivered } from '../helpers/e2e-judge.ts'
import { type Sent, type Stage, startStage } from '../helpers/e2e.ts'
import { temporaryFolder } from '../helpers/folders.ts'

/** At bsc's price in this config, the fee of this transfer is worth more than its delivery costs. */
const coin = { kind: 'coin', amount: 10n ** 18n, fee: 10n ** 16n } as const
/** The fee of this transfer is the smallest fee above 0 in a VAA: one unit of 10^-8 tokens. */
const dust = { kind: 'token', amount: 10n ** 18n, fee: 10n ** 10n } as const
const amount = 10n ** 18n
const pricesPath = join(temporaryFolder(), 'prices.json')

type Site = Pick<Stage['devnet']['chains']['ethereum'], 'wormholeChainId' | 'weth' | 'token'>
const wethOf = ({ wormholeChainId, weth }: Site) => `${wormholeChainId}/${toUniversal(weth)}`
const tokenOf = ({ wormholeChainId, token }: Site) => `${wormholeChainId}/${toUniversal(token)}`

describe('Terms, prices and calls of transfers', { timeout: 300_000 }, () => {
  let stage: Stage
  let portage: PortageProcess
  let redeemer: string

  const cli = async (...argv: string[]) => runCli([...argv, '--config', portage.configPath], { env: process.env })
  const lanes = () => stage.devnet.lanes.filter(({ chain }) => chain === 'bsc').map(({ address }) => `evm-1397:${address.toLowerCase()}`)
  const base64 = async (sent: Sent) => Buffer.from(await stage.vaa(sent)).toString('base64')
  const submit = async (sent: Sent, ...options: string[]) => {
    const { code, err, json } = await cli('transfer', 'submit', await base64(sent), ...options, '--api', portage.apiUrl, '--json')
    expect([code, err]).toEqual([0, ''])
    return json()
  }

  beforeAll(async () => {
    stage = await startStage({ consistencyLevel: 200, keysPerChain: 2 })
    await stage.devnet.guardian.spy.stop()
    const { ethereum, bsc } = stage.devnet.chains
    redeemer = bsc.redeemer
    portage = await stage.portage({
      configure: ({ bridges: { 'wormhole-token-bridge': wormhole, ...bridges }, ...config }) => ({
        ...config,
        priceFeed: { everySeconds: 1, sources: [{ kind: 'file', path: pricesPath }] },
        bridges: {
          ...bridges,
          'wormhole-token-bridge': {
            ...wormhole,
            // No server has the messages, because a stream would fetch them and start the transfers without terms.
            ...{ guardianApis: [], wormholescanApis: [] },
            prices: { bsc: { [wethOf(ethereum)]: String(10n ** 10n), [tokenOf(ethereum)]: 'feed' } },
            minimumFees: { ...wormhole?.minimumFees, bsc: { ...wormhole?.minimumFees?.bsc, [tokenOf(ethereum)]: '0.00000001 dollars' } },
            calls: { bsc: { [redeemer]: 'completeTransferWithPayload(bytes)' } },
          },
        },
      }),
    })
  })
  afterAll(() => stage?.close())

  test('a submission chooses its lane; a lane of another chain or outside the scope of the token is refused', async () => {
    const sent = await stage.send('ethereum', [coin, coin])
    const [mine, other] = lanes() as [string, string]
    const vaa = await base64(sent[0]!)
    const home = await loadConfig(portage.configPath, stage.devnet.env)
    const post = async (lane: string | undefined, token: Record<string, string>) => {
      const body = JSON.stringify({ vaa, lane, maxFeePerGas: '900000000000', maxFeePerTransaction: '900000000000000000' })
      const headers = { 'content-type': 'application/json', ...token }
      const answer = await fetch(`${portage.apiUrl}/v1/transfers`, { method: 'POST', headers, body })
      return { ...((await answer.json()) as object), status: answer.status }
    }
    const scoped = bearer(await makeToken(home, { lanes: [mine] }))
    expect(await post(other, scoped)).toMatchObject({ status: 403, code: 'ACCESS_SCOPE' })
    expect(await post(undefined, scoped)).toMatchObject({ status: 403, code: 'ACCESS_SCOPE' })
    const elsewhere = stage.devnet.lanes.find(({ chain }) => chain === 'ethereum')!.address
    for (const lane of [`evm-1:${elsewhere}`, elsewhere, `evm-1397:0x${'a'.repeat(40)}`])
      expect(await post(lane, portage.admin)).toMatchObject({ status: 404, code: 'LANE_NOT_FOUND' })
    expect(await post(mine, scoped)).toMatchObject({ status: 202 })
    await submit(sent[1]!, '--lane', other.split(':')[1]!)
    const ends = await stage.outcomes(sent)
    expect(ends.map(({ state, lane, transfer: { terms } }) => [state, lane, terms?.lane])).toEqual(
      [mine, other].map((lane) => ['delivered', lane, lane]),
    )
    const shown = (await cli('transfer', 'show', sent[0]!.id)).out
    for (const line of [/fee limit per gas +900 gwei/, /fee limit +0\.9/, /chosen lane +evm-1397/]) expect(shown).toMatch(line)
    await expectDelivered(stage, sent)
  })

  test('a transfer above its own fee limit waits, and a cancel with a later retry drops this limit', async () => {
    const [sent] = (await stage.send('ethereum', [coin])) as [Sent]
    expect(await submit(sent, '--max-fee-per-gas', '1wei')).toEqual({ id: sent.id, status: 'started' })
    expect(await stage.reaches(sent.id, 'waiting')).toMatchObject({ code: 'FEE_LIMIT', transfer: { terms: { maxFeePerGas: '1' } } })
    expect(await submit(sent, '--max-fee-per-gas', '5gwei', '--priority', '1')).toEqual({
      ...{ id: sent.id, status: 'known' },
      ignored: ['priority', 'maxFeePerGas'],
    })
    const retried = async (what: string) => (await cli('transfer', what, sent.id, '--reason', 'a test')).code
    expect(await retried('retry')).toBe(0)
    expect((await stage.reaches(sent.id, 'waiting')).nonce).toBeUndefined()
    expect(await retried('cancel')).toBe(0)
    await stage.reaches(sent.id, 'cancelled')
    expect(await retried('retry')).toBe(0)
    const delivered = await stage.reaches(sent.id, 'delivered')
    expect(delivered.transfer.terms).toBeUndefined()
    await expectDelivered(stage, [sent])
  })

  test('a transfer whose fee is worth less than its delivery waits, and is listed as blocked', async () => {
    const [poor, rich] = (await stage.send('ethereum', [{ ...coin, fee: 0n }, coin])) as [Sent, Sent]
    await submit(poor)
    await submit(rich)
    expect(await stage.reaches(poor.id, 'waiting')).toMatchObject({
      code: 'FEE_BELOW_COST',
      reason: expect.stringContaining('worth 0 wei'),
    })
    expect(await stage.reaches(rich.id, 'delivered')).toMatchObject({ delivery: { ours: true } })
    const blocked = async (age: string) => {
      const { transfers } = (await cli('transfer', 'list', '--blocked', age, '--json')).json() as { transfers: { id: string }[] }
      return transfers.map(({ id }) => id)
    }
    await expect.poll(() => blocked('1s'), { timeout: 30_000 }).toEqual([poor.id])
    expect(await blocked('1h')).toEqual([])
    expect((await cli('transfer', 'cancel', poor.id, '--reason', 'a test')).code).toBe(0)
    await stage.reaches(poor.id, 'cancelled')
    await expectNotDelivered(stage, [poor])
    await expectDelivered(stage, [rich])
  })

  test('a transfer whose fee counts at the price feed waits for a price, then for a fee above its cost', async () => {
    const { ethereum } = stage.devnet.chains
    const feed = (bsc: string) =>
      writeFile(pricesPath, JSON.stringify({ at: Math.floor(Date.now() / 1_000), dollars: { bsc, [tokenOf(ethereum)]: '1' } }))
    const [sent, poor] = (await stage.send('ethereum', [dust, { ...dust, fee: 0n }])) as [Sent, Sent]
    await submit(sent)
    expect(await stage.reaches(sent.id, 'waiting')).toMatchObject({ code: 'PRICE_MISSING', reason: expect.stringContaining('prices.json') })
    // The fee is now worth 100 wei, less than any delivery costs.
    await feed('99999999')
    await expect.poll(async () => (await stage.reaches(sent.id, 'waiting')).code, { timeout: 60_000 }).toBe('FEE_BELOW_COST')
    await feed('0.0000000001')
    await stage.reaches(sent.id, 'delivered')
    await submit(poor)
    expect(await stage.reaches(poor.id, 'declined')).toMatchObject({
      code: 'FEE_TOO_LOW',
      reason: expect.stringContaining('minimum=0.00000001 dollars'),
    })
    await expectNotDelivered(stage, [poor])
    await expectDelivered(stage, [sent])
  })

  test('operators change the terms while Portage runs: the value of fees, and the tokens that are delivered', async () => {
    const { ethereum } = stage.devnet.chains
    const token = wethOf(ethereum)
    const versionIn = async () =>
      Number(/^portage_settings_version(?:\{\})? (\d+)$/m.exec(await (await fetch(`${portage.apiUrl}/metrics`)).text())?.[1])
    const order = async (...argv: string[]) => {
      const { code, err, json } = await cli('tariff', ...argv, '--reason', 'a test', '--json')
      expect([code, err]).toEqual([0, ''])
      await expect.poll(versionIn).toBe(json().version)
    }
    const [cheap, declined] = (await stage.send('ethereum', [{ ...coin, fee: 10n ** 10n }, coin])) as [Sent, Sent]
    await order('fee', 'bsc', token, '--price', '1wei')
    await submit(cheap)
    expect(await stage.reaches(cheap.id, 'waiting')).toMatchObject({ code: 'FEE_BELOW_COST' })
    await order('fee', 'bsc', token, '--price', '1ether')
    // The order must wake the transfer, whose own next check would come much later.
    await stage.reaches(cheap.id, 'delivered')

    await order('asset', token, 'decline')
    await submit(declined)
    expect(await stage.reaches(declined.id, 'declined')).toMatchObject({ code: 'ASSET_UNSUPPORTED' })
    expect((await cli('tariff', 'show')).out).toMatch(/from +operator\s+tariff +declined/)
    await order('asset', token, 'config')
    expect((await cli('transfer', 'retry', declined.id, '--reason', 'a test')).code).toBe(0)
    await stage.reaches(declined.id, 'delivered')
    await order('fee', 'bsc', token, '--clear')
    expect((await cli('settings', '--json')).json()).toMatchObject({ tariff: [] })
    await expectDelivered(stage, [cheap, declined])
  })

  test('a transfer with a call (payload 3) is redeemed through the contract that the config names for it', async () => {
    const { chains, outsiders, guardian } = stage.devnet
    const { anvil, core, tokenBridge, wormholeChainId } = chains.ethereum
    const script = await Script.of(anvil, outsiders.ethereum)
    const { abi } = artifact('BridgeImplementation')
    const recipient = `0x${toUniversal(redeemer)}`
    script.call(tokenBridge, abi, 'wrapAndTransferETHWithPayload', [chains.bsc.wormholeChainId, recipient, 0, '0xc0ffee'], amount)
    const [mined] = await script.mine()
    const [message] = published(mined!, core, wormholeChainId)
    const { bytes } = await guardian.waitFor(wormholeChainId, message!.emitter, message!.sequence)
    const { status, body } = await stage.submit(portage, bytes)
    expect(status).toBe(202)
    const [end] = await stage.outcomes([String(body['id'])])
    expect(end).toMatchObject({ state: 'delivered', delivery: { ours: true }, tried: [{ kind: 'call', to: redeemer, fate: 'mined' }] })
  })
})
