import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readOptions } from '../../../lab/bench/options.ts'
import { deliveryRates, watchDeliveries } from '../../../lab/bench/peers/deliveries.ts'
import type { KillRun, PeerRun } from '../../../lab/bench/peers/peer-run.ts'
import { type PeersResult, portageIsClean } from '../../../lab/bench/peers/peers.ts'
import { peersTable } from '../../../lab/bench/peers/peers-table.ts'
import { engineVersion, findEngine, findRedis } from '../../../lab/bench/peers/programs.ts'
import { until } from '../../../lab/devnet/until.ts'
import type { WormholeChain } from '../../../lab/devnet/wormhole/wormhole.ts'

let folder = ''
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'portage-peers-test-'))))
afterAll(() => rm(folder, { recursive: true, force: true }))

const blocks = [
  { at: 3_000, deliveries: 100 },
  { at: 4_000, deliveries: 200 },
  { at: 5_000, deliveries: 0 },
  { at: 6_000, deliveries: 100 },
]

test('the sustained rate counts from the first block with a delivery to the last', () => {
  expect(deliveryRates(blocks, 1_000)).toEqual({ perSecond: 80, sustainedPerSecond: 100 })
})

test('deliveries in a single block have no sustained rate', () => {
  expect(deliveryRates(blocks.slice(0, 1), 2_000)).toEqual({ perSecond: 100, sustainedPerSecond: undefined })
  expect(() => deliveryRates([], 0)).toThrow('Nothing was delivered')
})

test('deliveries count from the next block on, and once, also when a node fails in between', async () => {
  const ranges: unknown[] = []
  let [head, fails] = ['0xa', true]
  const rpc = (method: string, params: readonly [{ fromBlock: string; toBlock: string }]) => {
    if (method === 'eth_blockNumber') return Promise.resolve(head)
    if (fails) return Promise.reject(new Error('busy')).finally(() => void (fails = false))
    ranges.push([params[0].fromBlock, params[0].toBlock])
    return Promise.resolve(['one', 'another'])
  }
  const watch = await watchDeliveries({ anvil: { rpc }, tokenBridge: '0x1' } as unknown as WormholeChain)
  head = '0xc'
  await until(() => watch.count > 0, { timeoutMs: 10_000, everyMs: 10, what: 'deliveries' })
  await watch.stop()
  expect(ranges).toEqual([['0xb', '0xc']])
  expect(watch).toMatchObject({ count: 2, blocks: [{ at: watch.lastAt, deliveries: 2 }] })
})

const engineIn = (root: string) => join(root, 'node_modules/@wormhole-foundation/relayer-engine')

async function pretendInstall(root: string): Promise<undefined> {
  await mkdir(engineIn(root), { recursive: true })
  await writeFile(join(engineIn(root), 'package.json'), '{}')
}

test('relayer-engine is installed once, in its version, into a folder of the cache', async () => {
  const cache = join(folder, 'once')
  let installs = 0
  const install = (root: string) => {
    installs++
    return pretendInstall(root)
  }
  const first = await findEngine(cache, install)
  expect(first).toEqual({ path: join(cache, `relayer-engine-${engineVersion}`) })
  expect(await findEngine(cache, install)).toEqual(first)
  expect(installs).toBe(1)
  const manifest = JSON.parse(await readFile(join(cache, `relayer-engine-${engineVersion}`, 'package.json'), 'utf8')) as object
  expect(manifest).toMatchObject({ private: true, dependencies: { '@wormhole-foundation/relayer-engine': engineVersion } })
})

test('relayer-engine is installed again when its pinned versions have changed', async () => {
  const cache = join(folder, 'again')
  const found = await findEngine(cache, pretendInstall)
  await writeFile(join(cache, `relayer-engine-${engineVersion}`, 'pins.json'), '{}')
  expect(await findEngine(cache, () => Promise.resolve('no network'))).toMatchObject({
    why: expect.stringContaining('no network') as string,
  })
  expect(await findEngine(cache, pretendInstall)).toEqual(found)
})

test('a failed installation of relayer-engine says why and leaves nothing in the cache', async () => {
  const cache = join(folder, 'failed')
  const found = await findEngine(cache, () => Promise.resolve('no network'))
  expect(found).toEqual({ why: `relayer-engine ${engineVersion} cannot be installed: no network` })
  expect(await findEngine(cache, () => Promise.resolve(undefined))).toMatchObject({
    why: expect.stringContaining('something else') as string,
  })
  expect(await readdir(cache)).toEqual([])
})

test('a Redis that REDIS_SERVER names is used, or its absence is the reason', async () => {
  const path = join(folder, 'redis-server')
  await writeFile(path, '')
  const never = () => Promise.reject(new Error('must not install'))
  expect(await findRedis(folder, { REDIS_SERVER: path }, never)).toEqual({ path })
  expect(await findRedis(folder, { REDIS_SERVER: '/none' }, never)).toEqual({ why: 'REDIS_SERVER is /none, which does not exist' })
  expect(await findRedis(folder, { PATH: `/none:${folder}` }, never)).toEqual({ path })
})

test.skipIf(existsSync('/usr/bin/redis-check-rdb'))('without a Redis the reason of apt-get is named', async () => {
  const found = await findRedis(folder, { PATH: '' }, () => Promise.resolve('only root can install it'))
  expect(found).toMatchObject({ why: expect.stringContaining('only root can install it') as string })
})

const verdict = {
  ...{ delivered: 100, of: 100, lost: 0, duplicates: 0, nonceHoles: 0, foreignCompletions: 0, revertedTransactions: 0 },
}
const run: PeerRun = { ...verdict, perSecond: 20, sustainedPerSecond: undefined, cpuMs: { relayer: 7.123, store: 1 }, rssPeakMiB: {} }
const kill: KillRun = { ...verdict, deliveredBefore: 50, seconds: 12.5, wastedTransactions: 0 }
const lossy = { ...kill, delivered: 60, lost: 40, seconds: undefined }

function result(ofPortage: KillRun, ofRaw: KillRun): PeersResult {
  const machine = { cpus: 2, model: 'EPYC', node: 'v20', load: [4] }
  const peers = [
    { name: 'Portage', runs: [run, { ...run, perSecond: 30 }], kills: [ofPortage] },
    { name: 'raw sender', runs: [run], kills: [ofRaw] },
  ]
  return { transfers: 100, keys: 4, rounds: 2, peers, machine }
}

test('only losses of Portage make the run fail', () => {
  expect(portageIsClean(result(kill, lossy))).toBe(true)
  expect(portageIsClean(result(lossy, kill))).toBe(false)
})

test('the table has the rates, the CPU time and what a kill lost, and a dash for what was not measured', () => {
  const [, portage = '', raw = ''] = peersTable(result(kill, lossy)).split('\n')
  expect(portage.trim().split(/\s{2,}/)).toEqual(['Portage', '20 (20–30)', '-', '7.12', '1', '0', '0', '0', '12.5'])
  expect(raw.trim().split(/\s{2,}/)).toEqual(['raw sender', '20', '-', '7.12', '1', '40', '0', '0', '-'])
})

test('--peers is a run of its own, with the numbers of --quick', () => {
  expect(readOptions(['--peers', '--quick'])).toMatchObject({ peers: true, transfers: 800, rounds: 1, keys: 4 })
})
