import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { restApi } from '../../api/server.ts'
import { loadConfig } from '../../config/load/load.ts'
import { configSchema } from '../../config/schema/schema.ts'
import { bearer, makeToken } from '../../lab/devnet/access.ts'
import { type Devnet, startDevnet } from '../../lab/devnet/index.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { until } from '../../lab/devnet/until.ts'
import type { SentTransfer } from '../../lab/devnet/wormhole/users.ts'
import { silentLogger } from '../../observability/logger.ts'
import { runRole } from '../../workers/process/runtime.ts'
import { type CliResult, runCli } from '../cli/run-cli.ts'
import { readingCommands } from '../helpers/documented-commands.ts'
import { apiGuide, curlBlocks, curlPages, shell } from '../helpers/documented-curls.ts'
import { shellBlocks, textOf } from '../helpers/documents.ts'

/** At first only the role `api` runs, so the tests see transfers that no worker takes. The other roles start later. */
describe('API and command line on a devnet', () => {
  let devnet: Devnet
  let sent: SentTransfer[]
  let url = ''
  let configFile = ''
  let token = ''
  let adminPort = 0
  const running: Awaited<ReturnType<typeof runRole>>[] = []

  const cli = (...argv: string[]): Promise<CliResult> => runCli([...argv, '--config', configFile], { env: process.env })
  const list = async (...options: string[]) =>
    ((await cli('transfer', 'list', ...options, '--json')).json() as { transfers: { id: string; state: string }[] }).transfers
  const place = ({ emitterChain: chain, emitter, sequence }: SentTransfer) => ({ chain, emitter, sequence: String(sequence) })
  const base64 = async ({ emitterChain, emitter, sequence }: SentTransfer): Promise<string> =>
    Buffer.from((await devnet.guardian.waitFor(emitterChain, emitter, sequence)).bytes).toString('base64')
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${url}${path}`, { ...init, headers: { ...bearer(token), ...(init.headers as Record<string, string>) } })
  const post = (body: object) =>
    ask('/v1/transfers', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const deliveredId = async () =>
    ((await (await ask('/v1/transfers?state=delivered')).json()) as { transfers: { id: string }[] }).transfers[0]!.id
  const laneOfBsc = () => `evm-1397:${devnet.lanes.find(({ chain }) => chain === 'bsc')!.address.toLowerCase()}`
  const start = async (role: Parameters<typeof runRole>[0]): Promise<void> => {
    const admin = role === 'api' ? { admin: { port: adminPort } } : {}
    const config = configSchema.parse({ ...devnet.relayerConfig(), ...admin, api: { port: Number(new URL(url).port) } })
    running.push(await runRole(role, config, { env: process.env, logger: silentLogger(), api: restApi }))
  }

  beforeAll(async () => {
    devnet = await startDevnet({ blockTimeSeconds: 0.5, inMemory: true, ui: false })
    // The signers read their keys from the environment.
    Object.assign(process.env, devnet.env)
    const port = await freePort()
    adminPort = await freePort()
    url = `http://127.0.0.1:${port}`
    configFile = join(devnet.dir, 'portage.yaml')
    await writeFile(configFile, stringify({ ...devnet.relayerConfig(), api: { port } }))
    token = await makeToken(await loadConfig(configFile, process.env))
    sent = await devnet.users.ethereum.send(
      Array.from({ length: 4 }, (_, index) => ({ kind: 'coin', amount: 10n ** 17n + BigInt(index) * 10n ** 12n, fee: 0n })),
    )
    await start('api')
  })

  afterAll(async () => {
    for (const { stop } of running.reverse()) await stop()
    for (const variable of Object.keys(devnet?.env ?? {})) delete process.env[variable]
    await devnet?.stop()
  })

  test('the doctor finds no failure', async () => {
    const result = await cli('doctor', '--json')
    const { healthy, checks } = result.json() as {
      healthy: boolean
      checks: { area: string; name: string; status: string; detail: string }[]
    }
    expect(checks.filter(({ status }) => status === 'fail')).toEqual([])
    expect([result.code, healthy]).toEqual([0, true])
    expect(checks.find(({ name }) => name === 'core contract')?.detail).toMatch(/guardian set 0 of 1$/)
    // Expected warnings: keys are in the environment, Temporal is open, no token is listed, and each chain has one
    // node.
    const warnings = checks.filter(({ status }) => status === 'warn').map(({ name }) => name.slice(0, 6))
    expect(warnings).toEqual(['access', 'key of', 'key of', 'number', 'number', 'tokens'])
  })

  test('a VAA that is submitted several times, in any form, starts one transfer', async () => {
    const vaa = await base64(sent[0]!)
    const first = await post({ vaa })
    const started = (await first.json()) as { id: string; status: string }
    expect([first.status, started.status]).toEqual([202, 'started'])
    expect(started.id).toMatch(new RegExp(`^wormhole-token-bridge:2:${sent[0]!.emitter}:${sent[0]!.sequence}:[0-9a-f]{16}$`))
    const again = await post(place(sent[0]!))
    expect([again.status, await again.json()]).toEqual([200, { id: started.id, status: 'known' }])
    const old = await ask(`/relayvaa/${vaa}`)
    expect([old.status, await old.json()]).toEqual([200, { message: 'Scheduled' }])
    const byHand = await cli('transfer', 'submit', Buffer.from(vaa, 'base64').toString('hex'), '--json')
    expect([byHand.code, byHand.json()]).toEqual([0, { id: started.id, status: 'known' }])
  })

  test('a VAA is fetched by its place; one with a wrong signature starts no transfer', async () => {
    // The guardians may sign this message a block after the first one, so wait for their signatures.
    await base64(sent[1]!)
    const at = `--chain ethereum --emitter ${sent[1]!.emitter} --sequence ${sent[1]!.sequence}`.split(' ')
    const fetched = await cli('transfer', 'submit', ...at, '--reason', 'asked by phone')
    expect([fetched.code, fetched.out]).toEqual([0, expect.stringMatching(/status {4}started/)])
    const forged = Buffer.from(await base64(sent[2]!), 'base64')
    forged[20]! ^= 1
    const refused = await cli('transfer', 'submit', forged.toString('base64'))
    expect([refused.code, refused.out, refused.err]).toEqual([1, '', expect.stringMatching(/^VAA_(SIGNATURE_INVALID|NO_QUORUM): .*\n→ /)])
    const listed = async () => ((await (await ask('/v1/transfers')).json()) as { transfers: unknown[] }).transfers
    await until(async () => (await listed()).length >= 2, { timeoutMs: 60_000, everyMs: 500, what: 'the server to list both' })
    expect(await listed()).toHaveLength(2)
  })

  test('transfers without a worker are shown from the lists of the server', async () => {
    const transfers = await list('--chain', 'bsc')
    expect(transfers.map(({ state }) => state)).toEqual(['admitting', 'admitting'])
    const shown = await ask(`/v1/transfers/${encodeURIComponent(transfers[0]!.id)}`)
    expect([shown.status, await shown.json()]).toEqual([
      200,
      expect.objectContaining({
        id: transfers[0]!.id,
        state: 'admitting',
        execution: 'RUNNING',
        targetChain: 'bsc',
        partial: 'no worker of the target chain answered',
      }),
    ])
    const unknown = await ask('/v1/transfers/nothing')
    expect([unknown.status, ((await unknown.json()) as { code: string }).code]).toEqual([404, 'TRANSFER_NOT_FOUND'])
    const notHere = await cli('transfer', 'show', 'nothing')
    expect([notHere.code, notHere.err]).toEqual([1, expect.stringContaining('TRANSFER_NOT_FOUND')])
  })

  test('a cancelled transfer ends cancelled, and a retry delivers it like the others', async () => {
    const [cancelled, delivered] = (await list()).map(({ id }) => id) as [string, string]
    const cancel = await cli('transfer', 'cancel', cancelled, '--reason', 'a test', '--json')
    expect([cancel.code, cancel.json()]).toEqual([0, { id: cancelled, asked: 'cancel' }])
    for (const role of ['ledger', 'lane', 'chain'] as const) await start(role)

    const ended = await cli('transfer', 'watch', cancelled, '--json')
    expect([ended.code, ended.json()]).toEqual([1, expect.objectContaining({ state: 'cancelled', execution: 'COMPLETED' })])
    const given = { by: 'night-shift', at: expect.any(Number) }
    expect(ended.json()['orders']).toEqual([
      { ...given, kind: 'submit', reason: 'asked by phone' },
      { ...given, kind: 'cancel', reason: 'a test' },
    ])
    expect((await cli('transfer', 'show', cancelled)).out).toMatch(/submit +night-shift +asked by phone/)
    const watched = await cli('transfer', 'watch', delivered)
    expect([watched.code, watched.err]).toEqual([0, ''])
    expect(watched.out).toMatch(/delivered by +0x[0-9a-f]{40} \(ours\)/)
    const report = (await (await ask(`/v1/transfers/${delivered}`)).json()) as Record<string, unknown>
    expect(report).toMatchObject({ state: 'delivered', execution: 'COMPLETED', delivery: { ours: true } })
    expect(report).not.toHaveProperty('partial')
    expect(report['orders']).toEqual([{ ...given, kind: 'submit', reason: 'handed in' }])

    const nothingToDo = await cli('transfer', 'retry', delivered, '--reason', 'a test')
    expect([nothingToDo.code, nothingToDo.err]).toEqual([1, expect.stringContaining('there is nothing to retry')])
    const retried = await cli('transfer', 'retry', cancelled, '--json', '--reason', 'a test')
    expect([retried.code, retried.json()]).toEqual([0, { id: cancelled, done: 'started again' }])
    const second = await cli('transfer', 'watch', cancelled, '--json')
    const again = { kind: 'retry', reason: 'a test', by: 'night-shift', at: expect.any(Number) }
    expect([second.code, second.json()]).toEqual([0, expect.objectContaining({ state: 'delivered', orders: [again] })])
    const late = await cli('transfer', 'cancel', cancelled, '--reason', 'too late')
    expect([late.code, late.err]).toEqual([1, expect.stringContaining('closed already')])
    const listed = async () => (await list('--state', 'delivered')).map(({ id }) => id).toSorted()
    await until(async () => (await listed()).length >= 2, { timeoutMs: 60_000, everyMs: 200, what: 'the server to list both as delivered' })
    expect(await listed()).toEqual([cancelled, delivered].toSorted())
  })

  test('a lane is listed, shown, paused and resumed', async () => {
    const lane = laneOfBsc()
    const { lanes } = (await cli('lane', 'list', '--json')).json() as { lanes: { lane: string; status: string; next?: number }[] }
    expect(lanes.find((row) => row.lane === lane)).toMatchObject({ chain: 'bsc', status: 'active', next: 2 })
    expect((await cli('lane', 'pause', lane, '--reason', 'key rotation')).code).toBe(0)
    const shown = async () => (await cli('lane', 'show', lane, '--json')).json()
    await expect.poll(shown).toMatchObject({ paused: { reason: 'key rotation' } })
    expect((await cli('lane', 'show', lane)).out).toMatch(/^status +paused\nreason +key rotation$/m)
    // Only one chain has this lane, so its address suffices.
    expect((await cli('lane', 'resume', lane.split(':')[1]!, '--reason', 'a test')).code).toBe(0)
    await expect.poll(shown).not.toHaveProperty('paused')
    const unknown = await cli('lane', 'show', `evm-1:0x${'0'.repeat(40)}`)
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('LANE_NOT_FOUND')])
  })

  test('metrics count requests of the API, and transfers by state', async () => {
    const scrape = async () => (await fetch(`${url}/metrics`)).text()
    const countsIn = (metrics: string) =>
      Array.from(
        metrics.matchAll(/^portage_transfers\{state="(.*)"\} (\d+)$/gm),
        ([, state = '', count]) => [state, Number(count)] as const,
      )
    // Transfers are counted every 30 s. A count may be two rounds old, because Temporal lists transfers late.
    const isCounted = async () => {
      const { delivered, undone } = Object.fromEntries(countsIn(await scrape()))
      return delivered === 2 && undone !== undefined
    }
    await until(isCounted, { timeoutMs: 150_000, everyMs: 500, what: 'two transfers to be counted as delivered' })
    const text = await scrape()
    const counts = countsIn(text)
    expect(counts).toHaveLength(11)
    // One transfer was cancelled and then started again, so both of its runs are counted.
    expect(Object.fromEntries(counts)).toMatchObject({ delivered: 2, cancelled: 1, parked: 0, undone: 0 })
    expect(text).toMatch(/^portage_intake_started_total\{via="api",bridge="wormhole-token-bridge",status="started"\} 2$/m)
    expect(text).toMatch(/^portage_head_height\{chain="bsc"\} [1-9]/m)
    expect(text).toMatch(/^portage_rpc_calls_total\{chain="bsc",method="eth_call",node="node-1"\} [1-9]/m)
  })

  test('an idempotency key has one answer, and a refused transfer of many does not affect the others', async () => {
    const vaa = await base64(sent[3]!)
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'order-117' }
    const send = async (path: string, body: object) => {
      const response = await ask(path, { method: 'POST', headers, body: JSON.stringify(body) })
      return {
        status: response.status,
        replayed: response.headers.get('idempotency-replayed'),
        body: (await response.json()) as Record<string, unknown>,
      }
    }
    const first = await send('/v1/transfers', { vaa })
    expect(first).toMatchObject({ status: 202, replayed: null, body: { status: 'started' } })
    expect(await send('/v1/transfers', { vaa })).toEqual({ ...first, replayed: 'true' })
    expect(await send('/v1/transfers', { vaa, priority: 1 })).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } })
    const bulk = { transfers: [{ vaa }, { vaa: 'AQAA' }, place(sent[0]!)] }
    const many = await send('/v1/transfers/bulk', bulk)
    expect(many).toMatchObject({
      status: 200,
      body: {
        results: [
          { index: 0, id: first.body['id'], status: 'known' },
          { index: 1, error: { code: 'VAA_TRUNCATED' } },
          { index: 2, status: 'known' },
        ],
      },
    })
    expect(await send('/v1/transfers/bulk', bulk)).toEqual({ ...many, replayed: 'true' })
    const delivered = await cli('transfer', 'watch', String(first.body['id']), '--json')
    expect(delivered.code).toBe(0)
    const { txHash } = delivered.json()['delivery'] as { txHash: string }
    for (const hash of [txHash, sent[3]!.txHash]) {
      const found = (await (await ask(`/v1/transfers/${hash}`)).json()) as Record<string, unknown>
      expect(found).toMatchObject({
        id: first.body['id'],
        transactions: [{ kind: 'call', round: 1, hash: txHash, fate: 'mined', gasPaid: expect.stringMatching(/^[1-9][0-9]*$/) }],
      })
    }
  })

  test('every example of docs/start/http-api.md runs unchanged', async () => {
    const examples = shellBlocks(textOf(apiGuide))
      .flatMap((block) => block.split(/^(?=curl )/m))
      .filter((example) => example.startsWith('curl '))
    expect(examples.length).toBeGreaterThan(8)
    const known = await deliveredId()
    const vaa = await base64(sent[2]!)
    for (const example of examples) {
      const script = example
        .replace('AQAAAAABAA…', vaa)
        .replace('269170:6d1b4c0c5f0a3e21', known.split(':').slice(-2).join(':'))
        .replace('--max-time 5', '--max-time 1')
      const { code, out } = await shell(script, { PORTAGE_API: url, PORTAGE_TOKEN: token })
      // Curl ends the stream of events by its own time limit, with exit code 28.
      expect([example, code]).toEqual([example, example.includes('/v1/events') ? 28 : 0])
      if (example.includes('/v1/events')) continue
      const answer = JSON.parse(out) as { code?: string; detail?: string }
      const isNothingToDo = example.includes('/retry"') && answer.detail?.includes('there is nothing to retry')
      expect([example, isNothingToDo ? undefined : answer.code]).toEqual([example, undefined])
    }
  })

  test('every documented command line that only reads runs unchanged and succeeds', async () => {
    const known = await deliveredId()
    const lane = laneOfBsc()
    const lines = readingCommands({ id: known, lane, chain: 'bsc' })
    expect(lines.length).toBeGreaterThan(20)
    // Commands read portage.yaml of the current folder, unless an option names another file.
    const setting = { cwd: devnet.dir, env: { ...process.env, PORTAGE_TOKEN: token } }
    for (const argv of lines) {
      const { code, out, err } = await runCli(argv, setting)
      // No intake runs here, so `stuck` may find a cause and end with 1.
      const expected = argv[0] === 'stuck' && !out.startsWith('Nothing is stuck') ? 1 : 0
      expect([argv.join(' '), code, err]).toEqual([argv.join(' '), expected, ''])
      expect(out).not.toBe('')
    }
  })

  test('every other curl of the documents runs unchanged', async () => {
    const known = await deliveredId()
    const { emitterChain, emitter, sequence } = sent[0]!
    // `fail-with-body` makes curl fail at an answer of 400 or more.
    await writeFile(join(devnet.dir, '.curlrc'), 'fail-with-body\nsilent\n')
    const blocks = curlBlocks()
    expect(blocks.map(({ document }) => document)).toEqual(curlPages)
    const values: Readonly<Record<string, string>> = {
      ...{ 'localhost:8099': new URL(url).host, 'localhost:7071': new URL(devnet.guardian.api.url).host },
      ...{ 'localhost:9464': `127.0.0.1:${adminPort}`, '<admin host:port>': `127.0.0.1:${adminPort}` },
      ...{ '/2/<emitter>/<sequence>': `/${emitterChain}/${emitter}/${sequence}`, '<id>': known },
      ...{ '<base64 or hex>': await base64(sent[2]!), '<vaa>': await base64(sent[1]!) },
    }
    for (const { document, block } of blocks) {
      for (const line of block.split('\n').filter((one) => /^(curl|auth=)/.test(one))) {
        const typed = Object.entries(values).reduce((text, [from, to]) => text.replaceAll(from, to), line)
        const script = ['auth="Authorization: Bearer $PORTAGE_TOKEN"', typed].join('\n')
        const { code, out } = await shell(script, { CURL_HOME: devnet.dir, PORTAGE_TOKEN: token })
        expect([document, line, code, code === 0 ? '' : out]).toEqual([document, line, 0, ''])
      }
    }
  })
})
