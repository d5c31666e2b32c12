import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshAddress } from '../../lab/devnet/chain/accounts.ts'
import type { PortageOptions, PortageProcess } from '../../lab/devnet/portage-process.ts'
import { type AnySent, nativeTransferId } from '../../lab/devnet/sent.ts'
import { inPool, startMining, stopMining } from '../helpers/e2e-chain.ts'
import { expectAllProved, sendNatives, untilDelivered } from '../helpers/e2e-native.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'
import { runCli } from '../cli/run-cli.ts'

/** Sets a minimum amount above the amounts of all transfers in this test. */
const withMinimum =
  (minimumAmount: string): PortageOptions['configure'] =>
  ({ bridges: { 'native-bridge': native, ...bridges }, ...config }) => ({
    ...config,
    bridges: { ...bridges, 'native-bridge': { ...native, routes: native?.routes.map((route) => ({ ...route, minimumAmount })) ?? [] } },
  })

/**
 * All processes are killed with nonces in the pool, and Temporal's database is lost or restored from a copy. No
 * transfer may be lost or take effect twice.
 */
describe('Temporal forgets', { timeout: 400_000 }, () => {
  let stage: Stage
  let portage: PortageProcess
  const sent: AnySent[] = []
  const bsc = () => stage.devnet.chains.bsc.anvil
  const lane = () => stage.devnet.lanes.find(({ chain }) => chain === 'bsc')?.address ?? ''

  beforeAll(async () => {
    stage = await startStage({ native: 'fixed', inMemory: false })
    portage = await stage.portage()
  })

  afterAll(() => stage?.close())

  const send = async (natives: number, coins = 0) => {
    sent.push(...(await sendNatives(stage, 'ethereum', natives)))
    const kinds = Array.from({ length: coins }, (_, index) => ({ kind: 'coin' as const, amount: 10n ** 16n + BigInt(index) * 10n ** 12n }))
    if (coins > 0) sent.push(...(await stage.devnet.users.ethereum.send(kinds)))
  }

  const crash = async (lose: () => Promise<unknown>) => {
    await stage.end(portage, 'SIGKILL')
    await lose()
    await send(2, 2)
    portage = await stage.portage()
    await startMining(bsc())
  }

  test('transfers survive the loss of all data with nonces in the pool, if the checkpoints are kept', async () => {
    await send(3)
    await untilDelivered(stage, sent)
    await stopMining(bsc())
    await send(3, 1)
    await inPool(bsc(), lane(), 4)
    await crash(() => stage.devnet.temporal.restartFrom('nothing'))
    await expectAllProved(stage, sent)
  })

  test('transfers survive the loss of all data and of the checkpoints', async () => {
    await stopMining(bsc())
    await send(3)
    await inPool(bsc(), lane(), 3)
    await crash(async () => {
      await stage.devnet.temporal.restartFrom('nothing')
      await rm(join(stage.devnet.dir, 'checkpoints'), { recursive: true, force: true })
    })
    await expectAllProved(stage, sent)
  })

  test('transfers survive a restore from a copy: nonces mined after the copy, and nonces in the pool', async () => {
    const { temporal } = stage.devnet
    await stopMining(bsc())
    await send(2)
    await inPool(bsc(), lane(), 2)
    const copy = await temporal.copy()
    await startMining(bsc())
    await send(3)
    await untilDelivered(stage, sent)
    await stopMining(bsc())
    await send(2)
    await inPool(bsc(), lane(), 2)
    await crash(() => temporal.restartFrom(copy))
    await expectAllProved(stage, sent)
  })

  test('after the loss of all data, policy does not decline a transfer before its call in a pool is mined', async () => {
    await stopMining(bsc())
    const refused = await sendNatives(stage, 'ethereum', 2)
    await inPool(bsc(), lane(), 2)
    await stage.end(portage, 'SIGKILL')
    await stage.devnet.temporal.restartFrom('nothing')
    portage = await stage.portage({ configure: withMinimum('1000000000000000000000000000000') })
    const ids = refused.map(nativeTransferId)
    for (const id of ids)
      expect(await stage.reaches(id, ['waiting', 'declined'])).toMatchObject({ state: 'waiting', code: 'NONCE_NOT_FINAL' })
    await startMining(bsc())
    expect(await stage.outcomes(ids)).toMatchObject(refused.map(() => ({ state: 'delivered', delivery: { ours: true } })))
    await untilDelivered(stage, [...sent, ...refused])
  })

  test('after a restore, a payment that was signed after the backup is not repeated', async () => {
    const { temporal } = stage.devnet
    const treasury = freshAddress()
    const configure: PortageOptions['configure'] = (config) => {
      const { bsc, ...others } = config.chains
      return { ...config, chains: { ...others, bsc: { ...bsc!, treasury: { address: treasury } } } }
    }
    const order = async (...args: string[]) => {
      const reasoned = ['--chain', 'bsc', '--reason', 'a test', '--json', '--config', portage.configPath]
      const { code, out, json } = await runCli(['lane', ...args, ...reasoned], { env: { ...process.env, ...stage.devnet.env } })
      expect([code, out]).toMatchObject([0, expect.any(String)])
      return json()
    }
    await stage.end(portage)
    portage = await stage.portage({ configure })
    await order('pause', lane())
    const payment = await order('send', lane(), '--to', treasury, '--value', '7')
    const copy = await temporal.copy()
    await stopMining(bsc())
    await order('activate', lane())
    await inPool(bsc(), lane(), 1)
    await stage.end(portage, 'SIGKILL')
    await temporal.restartFrom(copy)
    portage = await stage.portage({ configure })
    await order('activate', lane())
    await startMining(bsc())
    expect(await stage.client.workflow.getHandle(String(payment['id'])).result()).toMatchObject({ state: 'done' })
    expect(BigInt(await bsc().rpc<string>('eth_getBalance', [treasury, 'latest']))).toBe(7n)
  })
})
