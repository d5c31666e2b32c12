import { readFileSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { laneId } from '../../domain/lane/lane.ts'
import { type Devnet, startDevnet } from '../../lab/devnet/index.ts'
import { type PortageProcess, startPortage } from '../../lab/devnet/portage-process.ts'
import { type ConfigInput, quickTakeover } from '../../lab/devnet/relayer-config.ts'
import { createTestCa, hasOpenssl, type TestCa } from '../../lab/devnet/temporal/certificates.ts'
import { postgresServerParts, startTemporalOnPostgres, type TemporalOnPostgres } from '../../lab/devnet/temporal/on-postgres.ts'
import type { TemporalServer } from '../../lab/devnet/temporal/temporal.ts'
import { createTokenIssuer, keySetOf } from '../../lab/devnet/temporal/tokens.ts'
import { until } from '../../lab/devnet/until.ts'
import type { SentTransfer } from '../../lab/devnet/wormhole/users.ts'
import { laneStatusQuery } from '../../temporal/contracts/lane.ts'
import { laneWorkflowId } from '../../temporal/contracts/names.ts'
import { runCli } from '../cli/run-cli.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { logLines } from '../helpers/log-lines.ts'

const parts = await postgresServerParts()
const why = 'why' in parts ? parts.why : (await hasOpenssl()) ? undefined : 'openssl is not installed'
if (why !== undefined) process.stdout.write(`NOT RUN: test/e2e/temporal-postgres.test.ts: ${why}\n`)

const namespace = 'bridge'
const coins = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ kind: 'coin' as const, amount: 10n ** 17n + BigInt(index) * 10n ** 12n }))

/**
 * The production server with four history shards, TLS and tokens, on a PostgreSQL that syncs to disk. One process has
 * one lane's key and does all work without a key. The other process has the other lane's key.
 */
describe.skipIf(why !== undefined)('Temporal on PostgreSQL', { timeout: 600_000 }, () => {
  const dir = temporaryFolder()
  let server: TemporalOnPostgres
  let devnet: Devnet
  let ca: TestCa
  const processes: PortageProcess[] = []
  let relayer: PortageProcess
  let lane: PortageProcess
  const sent: SentTransfer[] = []
  const issuer = createTokenIssuer()
  const tokens = {
    cluster: issuer.issue(['temporal-system:admin']),
    admin: issuer.issue([`${namespace}:admin`], { subject: 'set-up' }),
    relayer: issuer.issue([`${namespace}:write`], { subject: 'relayer' }),
    lane: issuer.issue([`${namespace}:write`], { subject: 'lane-of-bsc' }),
    worker: issuer.issue([`${namespace}:worker`], { subject: 'role-worker' }),
  }

  beforeAll(async () => {
    ca = await createTestCa(join(dir, 'ca'), 'ca')
    server = await startTemporalOnPostgres({
      parts: parts as Exclude<typeof parts, { why: string }>,
      // PostgreSQL runs as another user, who may not enter `dir`.
      dir: `${dir}-temporal`,
      synchronousCommit: true,
      // By default the server checks only every three minutes whether a version is drained.
      dynamicConfig: {
        'matching.wv.VersionDrainageStatusVisibilityGracePeriod': '"1s"',
        'matching.wv.VersionDrainageStatusRefreshInterval': '"1s"',
      },
      tls: { server: await ca.issue('server') },
      keySet: keySetOf(issuer),
      // `portage setup temporal` makes the namespace, so the server starts without one.
      namespaces: [],
      admin: {
        tls: { ca: { from: 'a test', file: ca.file, read: () => readFileSync(ca.file, 'utf8') } },
        apiKey: { from: 'a test', read: () => tokens.cluster },
      },
    })
    // The devnet uses only the address of this server. It starts no Temporal server of its own.
    const temporal = { ...server.temporal, namespace: 'default' } as unknown as TemporalServer
    // Longer than `quickTakeover`, because disk syncs lengthen workflow tasks on a busy machine.
    const worker = { ...quickTakeover, workflowTaskSeconds: 20, heartbeatSeconds: 15 }
    devnet = await startDevnet({ temporal, blockTimeSeconds: 0.25, worker })
  })
  afterAll(async () => {
    await Promise.all(processes.map((one) => one.stop(15_000)))
    await devnet?.stop()
    await server?.stop()
    if (dir) await Promise.all([dir, `${dir}-temporal`].map((one) => rm(one, { recursive: true, force: true })))
  })

  /** @param buildId build id of the process's workers; undefined if the workers have no version */
  const configure =
    (buildId?: string) =>
    (config: ConfigInput): ConfigInput => ({
      ...config,
      temporal: { address: server.temporal.address, namespace, tls: { caFile: ca.file } },
      worker: { ...config.worker, ...(buildId && { deployment: { buildId } }) },
    })
  async function cli(args: readonly string[], token: string, buildId?: string) {
    const config = join(dir, 'cli.yaml')
    await writeFile(config, stringify(configure(buildId)(devnet.relayerConfig())))
    return runCli([...args, '--json', '--config', config], { env: { ...devnet.env, TEMPORAL_API_KEY: token } })
  }
  const laneOf = (chain: 'ethereum' | 'bsc') => devnet.lanes.find((lane) => lane.chain === chain)!
  async function start(chain: 'ethereum' | 'bsc', name: string): Promise<PortageProcess> {
    const [role, token, other] = chain === 'bsc' ? (['lane', tokens.lane, 'ethereum'] as const) : (['all', tokens.relayer, 'bsc'] as const)
    const env = { TEMPORAL_API_KEY: token, [laneOf(other).variable]: undefined }
    const started = await startPortage(devnet, { name, role, configure: configure(), env, args: ['--lane', laneOf(chain).address] })
    processes.push(started)
    return started
  }
  const send = async (from: 'ethereum' | 'bsc', count: number) => sent.push(...(await devnet.users[from].send(coins(count))))
  const allDelivered = () => {
    const look = async () => {
      const found = await devnet.check(sent)
      return found.lost === 0 && found.lanes.every(({ waiting, holes }) => waiting === 0 && holes === 0) && found
    }
    const giveUp = () => processes.map(({ ended }) => ended).find((ended) => ended?.includes('code') && !ended.endsWith('code 0'))
    const all = until(look, { timeoutMs: 180_000, everyMs: 500, what: 'all transfers to be delivered', giveUp })
    return all.catch(async (error: unknown) => {
      const { out } = await cli(['transfer', 'list', '--limit', '1000'], tokens.relayer)
      const left = (JSON.parse(out) as { transfers?: { state: string }[] }).transfers?.filter(({ state }) => state !== 'delivered')
      throw new Error(`${String(error)}; not so: ${JSON.stringify(left)}`, { cause: error })
    })
  }
  async function asked<T>(ask: (workflow: Client['workflow']) => Promise<T>): Promise<T> {
    const access = { tls: { serverRootCACertificate: readFileSync(ca.file) }, apiKey: tokens.relayer }
    const connection = await Connection.connect({ address: server.temporal.address, ...access })
    try {
      return await ask(new Client({ connection, namespace }).workflow)
    } finally {
      await connection.close()
    }
  }
  const failedTasks = () =>
    asked(async (workflow) => {
      const failed: string[] = []
      for await (const { workflowId, runId } of workflow.list()) {
        const { events } = await workflow.getHandle(workflowId, runId).fetchHistory()
        const failures = (events ?? []).flatMap(({ workflowTaskFailedEventAttributes: one }) => one?.failure?.message ?? [])
        failed.push(...failures.map((message) => `${workflowId}: ${message}`))
      }
      return failed
    })
  /**
   * Returns the settled spending of ethereum's lane, as the chain and as the ledger show it, and a stranger's balance.
   */
  async function spent() {
    const { anvil } = devnet.chains.ethereum
    const { address } = laneOf('ethereum')
    const of = (method: string, account: string) => anvil.rpc<string>(method, [account, 'latest'])
    const settled = async () => {
      const id = laneWorkflowId(laneId('evm', anvil.chainId, address))
      const { next, counts, entries } = await asked((workflow) => workflow.getHandle(id).query(laneStatusQuery))
      return Object.keys(entries).length === 0 && { next, counts }
    }
    const ledger = await until(settled, { timeoutMs: 90_000, everyMs: 500, what: 'all nonces of the lane to be final' })
    const [transactions, coins, stranger] = await Promise.all([
      of('eth_getTransactionCount', address),
      of('eth_getBalance', address),
      of('eth_getBalance', devnet.outsiders.ethereum.address),
    ])
    return { ledger, transactions, coins, stranger }
  }
  const clean = () => ({
    transfers: sent.length,
    delivered: sent.length,
    lost: 0,
    duplicates: 0,
    wrongBalances: 0,
    revertedTransactions: 0,
  })

  test('portage setup temporal makes namespace and search attributes once and needs the role admin', async () => {
    const refused = await cli(['setup', 'temporal'], tokens.relayer)
    expect([refused.code, refused.json()]).toMatchObject([1, { error: { code: 'TEMPORAL_PERMISSION' } }])
    const names = ['TransferState', 'Bridge', 'SourceChain', 'TargetChain', 'Lane', 'TxHash', 'PortageCode']
    const first = await cli(['setup', 'temporal', '--retention', '48'], tokens.admin)
    expect([first.code, first.json()]).toMatchObject([
      0,
      {
        ready: true,
        namespace: { name: namespace, made: true, retentionHours: 48 },
        searchAttributes: { made: names, present: [], wrongType: [], refused: [] },
      },
    ])
    const again = await cli(['setup', 'temporal'], tokens.admin)
    expect([again.code, again.json()]).toMatchObject([
      0,
      {
        ready: true,
        namespace: { name: namespace, made: false, retentionHours: 48 },
        searchAttributes: { made: [], present: names, wrongType: [], refused: [] },
      },
    ])
  })

  test('transfers are delivered both ways although PostgreSQL crashes: nothing is lost, nothing twice', async () => {
    ;[relayer, lane] = await Promise.all([start('ethereum', 'relayer'), start('bsc', 'lane')])
    await Promise.all([send('ethereum', 3), send('bsc', 3)])
    expect(await allDelivered()).toMatchObject(clean())

    await Promise.all([send('ethereum', 12), send('bsc', 12)])
    const some = async () => (await devnet.check(sent)).delivered > 8
    await until(some, { timeoutMs: 60_000, everyMs: 50, what: 'some of the second lot to be delivered' })
    await server.postgres.crash()
    await Promise.all([send('ethereum', 3), send('bsc', 3)])
    const noticed = async () => (await logLines(relayer.logFile)).some(({ message }) => message === 'messages cannot be submitted and wait')
    await until(noticed, { timeoutMs: 60_000, everyMs: 100, what: 'a new transfer to find no database' })
    await server.postgres.restart()
    // A lane fills a nonce that was returned unsigned if a higher nonce is in use, so some transactions may be no-ops.
    expect(await allDelivered()).toMatchObject(clean())
    // Temporal lists a transfer as delivered only after its finality was reported.
    const listed = async () => {
      const { out } = await cli(['transfer', 'list', '--state', 'delivered', '--limit', '1000'], tokens.relayer)
      return (JSON.parse(out) as { transfers?: object[] }).transfers?.length === sent.length
    }
    await until(listed, { timeoutMs: 60_000, everyMs: 500, what: 'the list to have all of them' })
  })

  test("the server separates namespaces and roles; the key's process refuses foreign orders for a lane", async () => {
    // Portage's workers need the role write, so a token with only the role worker may do nothing.
    const worker = await cli(['lane', 'list'], tokens.worker)
    expect([worker.code, worker.json()]).toMatchObject([1, { error: { code: 'TEMPORAL_PERMISSION' } }])
    // The server accepts orders for this lane from the other process and from the API. Nothing may be signed for such
    // an order.
    const { address, chain } = laneOf('ethereum')
    const victim = laneId('evm', devnet.chains[chain as 'ethereum'].anvil.chainId, address)
    const outsider = devnet.outsiders.ethereum.address
    const before = await spent()
    const order = ['lane', 'send', victim, '--to', outsider, '--value', '1', '--reason', 'a test', '--wait']
    const stolen = await cli(order, tokens.lane)
    expect([stolen.code, stolen.json()]).toMatchObject([1, { state: 'refused' }])
    expect(await spent()).toEqual(before)
    expect(await allDelivered()).toMatchObject(clean())
  })

  test('worker versions take over from unversioned workers and from each other without a failed task', async () => {
    const startVersion = async (buildId: string) => {
      const env = { TEMPORAL_API_KEY: tokens.relayer }
      const started = await startPortage(devnet, { name: buildId, configure: configure(buildId), env })
      processes.push(started)
      return started
    }
    const promote = async (buildId: string) => {
      const order = () => cli(['deploy', 'promote', '--reason', 'a test'], tokens.relayer, buildId)
      // Temporal refuses a promotion until the version's workers have polled all queues.
      const answer = await until(async () => ((one) => one.code === 0 && one)(await order()), {
        ...{ timeoutMs: 60_000, everyMs: 250, what: `${buildId} to be promoted` },
      })
      expect(answer.json()).toMatchObject({ current: buildId })
    }
    const load = () => Promise.all([send('ethereum', 6), send('bsc', 6)])
    const first = await startVersion('v1')
    await load()
    await promote('v1')
    // Processes without a version get no more work. One of them is stopped normally, and the other is killed with
    // unfinished work.
    lane.kill('SIGKILL')
    await Promise.all([relayer.stop(60_000), lane.exited])
    expect([relayer, lane].map(({ ended }) => ended)).toEqual(['ended with code 0', 'ended by SIGKILL'])
    const [, second] = await Promise.all([load(), startVersion('v2')])
    await promote('v2')
    await load()
    // The first version is promoted again while its process ends because the version is drained.
    const ends = async () => (await readFile(first.logFile, 'utf8')).includes('this version of the deployment is drained')
    await until(ends, { timeoutMs: 120_000, everyMs: 100, what: 'the first version to be drained' })
    await promote('v1')
    await load()
    expect(await allDelivered()).toMatchObject(clean())
    const drained = async () => (await cli(['deploy', 'drained'], tokens.relayer, 'v2')).json()
    await expect.poll(drained, { timeout: 60_000, interval: 250 }).toEqual({ buildId: 'v2', drained: true, status: 'drained' })
    await until(() => second.ended !== undefined, { timeoutMs: 180_000, everyMs: 100, what: 'the drained version to end by itself' })
    expect(second.ended).toBe('ended with code 0')
    // The server must refuse a version without workers, because no transfer would continue.
    const empty = await cli(['deploy', 'promote', 'v2', '--reason', 'a test'], tokens.relayer, 'v2')
    expect(empty.json()).toMatchObject({ error: { code: 'INPUT_INVALID', message: expect.stringContaining('no worker of v2 polls') } })
    await load()
    expect(await allDelivered()).toMatchObject(clean())
    expect(await failedTasks()).toEqual([])
  })
})
