import { randomUUID } from 'node:crypto'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { main } from '../../cli/main.ts'
import { loadConfig } from '../../config/load/load.ts'
import type { Config } from '../../config/schema/schema.ts'
import type { IssuedToken, Settings } from '../../domain/settings/settings.ts'
import { makeToken } from '../../lab/devnet/access.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { until } from '../../lab/devnet/until.ts'
import { readSettings } from '../../temporal/client/settings/settings.ts'
import { deadConfig } from '../api/setting.ts'
import { documentedCommands } from '../helpers/documented-commands.ts'
import { type Ledgers, startLedgers } from '../lanes/setting.ts'
import { runCli } from './run-cli.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const folder = temporaryFolder()
let file = ''
let ledgers: Ledgers
let config: Config
beforeAll(async () => {
  file = join(folder, 'portage.yaml')
  ledgers = await startLedgers()
  const { chains, bridges } = deadConfig(await freePort())
  const temporal = { address: ledgers.server.address }
  const api = { port: await freePort() }
  // The file has only the fields that this test sets. The other fields get their defaults.
  await writeFile(file, stringify(JSON.parse(JSON.stringify({ temporal, chains, bridges, api }))))
  config = await loadConfig(file, {})
})
afterAll(async () => {
  await ledgers?.stop()
})

async function cli(token: string | undefined, ...argv: string[]) {
  const env = token === undefined ? {} : { PORTAGE_TOKEN: token }
  const { code, out, err } = await runCli([...argv, '--json', '--config', file], { env, asAdministrator: false })
  const json = JSON.parse(out) as Record<string, unknown> & { error?: { code: string; remedy: string } }
  return { code, json, err, refused: json.error?.code }
}

async function create(by: string | undefined, ...argv: string[]): Promise<{ token: string; jti: string; kid: string }> {
  const { code, json } = await cli(by, 'token', 'create', ...argv)
  expect({ code, json }).toMatchObject({ code: 0, json: { token: expect.any(String) } })
  return json as never
}

const settings = (): Promise<Settings> => readSettings(ledgers.temporal.client)
const halt = ['halt', '--chain', 'bsc', '--reason', 'a test'] as const
const unhalt = ['unhalt', '--chain', 'bsc', '--reason', 'a test'] as const

test('an order needs a token, and the error says how to get one; commands that only read need none', async () => {
  for (const argv of [halt, ['lane', 'pause', `evm-1397:0x${'a'.repeat(40)}`, '--reason', 'x'], ['transfer', 'submit', 'AQ']]) {
    const { code, json } = await cli(undefined, ...argv)
    expect({ argv, code, json }).toMatchObject({
      code: 1,
      json: { error: { code: 'ACCESS_TOKEN_MISSING', remedy: expect.stringContaining('portage token create') } },
    })
  }
  expect((await cli(undefined, 'settings')).code).toBe(0)
  expect((await settings()).version).toBe(0)
})

test('the key file signs the first token; orders keep its name; lists and settings do not show tokens', async () => {
  const alice = await create(undefined, '--name', 'alice', '--level', 'admin')
  expect(await cli(alice.token, ...halt)).toMatchObject({ code: 0, json: { changed: true, halts: [{ by: 'alice', reason: 'a test' }] } })
  expect((await cli(alice.token, ...unhalt)).code).toBe(0)
  const bob = await create(alice.token, '--name', 'bob', '--level', 'sign', '--chain', 'bsc', '--expires', '30m')
  const { json } = await cli(undefined, 'token', 'list')
  const tokens = json['tokens'] as IssuedToken[]
  expect(tokens).toMatchObject([
    { jti: alice.jti, name: 'alice', level: 'admin' },
    { jti: bob.jti, name: 'bob', level: 'sign', chains: ['bsc'] },
  ])
  expect(tokens[1]!.expiresAt! - tokens[1]!.issuedAt!).toBeLessThanOrEqual(30 * 60_000)
  const { audit } = await settings()
  expect(audit.filter(({ order }) => order.kind === 'addToken')).toMatchObject([{ by: 'key-file' }, { by: 'alice' }])
  const kept = JSON.stringify(await settings())
  for (const { token } of [alice, bob]) expect(kept).not.toContain(token.split('.')[2])
})

test('a token is read from a file; one of a lower level, another scope or a removed key is refused', async () => {
  const { token } = await create(undefined, '--name', 'carol', '--level', 'admin', '--chain', 'bsc')
  await writeFile(join(folder, 'token'), `${token}\n`)
  const fromFile = await runCli([...halt, '--config', file, '--token-file', join(folder, 'token')], { asAdministrator: false })
  expect([fromFile.code, fromFile.err]).toEqual([0, ''])
  expect((await settings()).halts).toMatchObject([{ by: 'carol' }])
  expect((await cli(token, ...unhalt)).code).toBe(0)
  const refusals = [
    [token, ['halt', '--all', '--reason', 'x'], 'ACCESS_SCOPE'],
    [token, ['halt', '--chain', 'ethereum', '--reason', 'x'], 'ACCESS_SCOPE'],
    [token, ['token', 'create', '--name', 'eve', '--level', 'admin'], 'ACCESS_SCOPE'],
    [await makeToken(config, { level: 'sign' }), halt, 'ACCESS_LEVEL'],
    [await makeToken(config, { level: 'read' }), ['transfer', 'retry', 'x', '--reason', 'x'], 'ACCESS_LEVEL'],
    [await makeToken(config, { level: 'write' }), ['stream', 'skip', 'native-bridge:ethereum:bsc', '1', '--reason', 'x'], 'ACCESS_LEVEL'],
    [await makeToken(config, { level: 'sign' }), ['token', 'create', '--name', 'eve', '--level', 'admin'], 'ACCESS_LEVEL'],
    [await makeToken(config, { expiresAt: Date.now() - 1_000 }), halt, 'ACCESS_TOKEN_EXPIRED'],
    [await makeToken({ ...config, temporal: { namespace: 'staging' } }), halt, 'ACCESS_TOKEN_INVALID'],
    ['nonsense', halt, 'ACCESS_TOKEN_INVALID'],
  ] as const
  const { version } = await settings()
  for (const [one, argv, code] of refusals) expect({ argv, refused: (await cli(one, ...argv)).refused }).toEqual({ argv, refused: code })
  expect((await settings()).version).toBe(version)
})

test('a revocation names its author, and an unlisted token is revoked by the token, not by its id', async () => {
  const dave = await create(undefined, '--name', 'dave', '--level', 'admin')
  expect((await cli(undefined, 'token', 'revoke', dave.jti, '--reason', 'stolen')).code).toBe(0)
  expect((await cli(dave.token, ...halt)).refused).toBe('ACCESS_TOKEN_REVOKED')
  const row = (await settings()).tokens.find(({ jti }) => jti === dave.jti)
  expect(row).toMatchObject({ name: 'dave', revoked: { by: 'key-file', reason: 'stolen' } })
  const unlisted = await makeToken(config)
  const { jti } = JSON.parse(Buffer.from(unlisted.split('.')[1]!, 'base64url').toString()) as { jti: string }
  const { version, tokens } = await settings()
  for (const id of [jti, randomUUID()]) {
    const { json } = await cli(undefined, 'token', 'revoke', id, '--reason', 'seen in a chat')
    expect(json.error).toMatchObject({ code: 'INPUT_INVALID', message: expect.stringContaining('portage token revoke --stolen <file>') })
  }
  await writeFile(
    join(folder, 'found'),
    `${unlisted}
`,
  )
  const stolen = ['token', 'revoke', '--reason', 'seen in a chat', '--stolen', join(folder, 'found')]
  const another = await makeToken({ ...config, temporal: { namespace: 'staging' } })
  expect((await cli(undefined, ...stolen, jti)).refused).toBe('INPUT_INVALID')
  await writeFile(join(folder, 'foreign'), another)
  expect((await cli(undefined, ...stolen.slice(0, -1), join(folder, 'foreign'))).refused).toBe('ACCESS_TOKEN_INVALID')
  expect((await settings()).version).toBe(version)
  expect((await cli(undefined, ...stolen)).json).toMatchObject({ jti, revoked: true })
  expect((await cli(unlisted, ...halt)).refused).toBe('ACCESS_TOKEN_REVOKED')
  expect((await settings()).tokens).toHaveLength(tokens.length + 1)
  // The revocation is kept until the token expires, so the expiry must be known.
  expect((await settings()).tokens.at(-1)).toMatchObject({ jti, name: 'night-shift', expiresAt: expect.any(Number) })
  // The export must contain both revocations, so that they also hold in a new Temporal.
  const { json } = await cli(undefined, 'settings', 'export')
  expect(json['orders']).toEqual(
    expect.arrayContaining([
      { kind: 'revokeToken', jti },
      { kind: 'revokeToken', jti: dave.jti },
    ]),
  )
})

test('after a rotation the new key signs, and tokens of the old key are valid until it is removed', async () => {
  const before = await create(undefined, '--name', 'frank', '--level', 'admin')
  expect((await cli(before.token, 'token', 'rotate-key')).code).toBe(0)
  const after = await create(undefined, '--name', 'frank', '--level', 'admin')
  expect(after.kid).not.toBe(before.kid)
  expect((await cli(before.token, ...unhalt)).code).toBe(0)
  expect((await cli(after.token, 'token', 'remove-key', before.kid)).code).toBe(0)
  expect((await cli(before.token, ...unhalt)).refused).toBe('ACCESS_TOKEN_INVALID')
  expect((await cli(after.token, ...unhalt)).code).toBe(0)
  expect((await cli(undefined, 'token', 'keys')).json).toMatchObject({ keys: [{ kid: after.kid, use: 'signs' }] })
})

test('a machine without keys reports that, and creates none if the config has public keys', async () => {
  const { token } = await create(undefined, '--name', 'grace', '--level', 'admin')
  const elsewhere = join(folder, 'elsewhere.yaml')
  const raw = JSON.parse(JSON.stringify({ ...config, dataFolder: join(folder, 'other') })) as object
  await writeFile(elsewhere, stringify(raw))
  const order = () => runCli([...unhalt, '--config', elsewhere, '--json'], { env: { PORTAGE_TOKEN: token }, asAdministrator: false })
  expect((await order()).json()).toMatchObject({ error: { code: 'ACCESS_KEYS' } })
  const { keys } = (await cli(undefined, 'token', 'keys')).json as { keys: { publicKey: string }[] }
  await writeFile(elsewhere, stringify({ ...raw, access: { publicKeys: keys.map(({ publicKey }) => publicKey) } }))
  expect((await order()).code).toBe(0)
  const made = await runCli(['token', 'create', '--name', 'x', '--level', 'read', '--config', elsewhere, '--json'], {
    asAdministrator: false,
  })
  expect(made.json()).toMatchObject({ error: { code: 'ACCESS_KEYS' } })
})

test('if no worker knows the revocations, an order continues with a warning', async () => {
  const { token } = await create(undefined, '--name', 'heidi', '--level', 'sign')
  await ledgers.without(async () => {
    const lane = `evm-1397:0x${'a'.repeat(40)}`
    const { refused, err } = await cli(token, 'lane', 'pause', lane, '--reason', 'a test')
    expect([refused, err]).toEqual(['LANE_NOT_FOUND', 'Whether the token is revoked is not known: no worker serves the settings.\n'])
  })
})

async function firstStart(configFile: string, isTTY: boolean, done: () => Promise<boolean>): Promise<string> {
  let shown = ''
  const listeners: (() => void)[] = []
  const running = main(['run', '--role', 'api', '--log-level', 'error', '--config', configFile], {
    ...{ env: {}, stdin: Readable.from(['']), stdout: { write: () => {} }, cwd: () => folder, off: () => {} },
    stderr: { isTTY, write: (text) => (shown += text) },
    on: (_, listener) => listeners.push(listener),
  })
  await until(async () => (await done()) && listeners.length > 0, { timeoutMs: 60_000, what: 'the first start' })
  for (const stop of listeners) stop()
  await running
  return shown
}

test('the first token is listed like every other, and can be revoked by its id', async () => {
  const fresh = join(folder, 'first.yaml')
  const dataFolder = join(folder, 'first-data')
  await writeFile(fresh, stringify(JSON.parse(JSON.stringify({ ...config, dataFolder }))))
  const row = async () => (await settings()).tokens.find(({ name }) => name === 'first-admin')
  const shown = await firstStart(fresh, true, async () => (await row()) !== undefined)
  const [token = ''] = /^[\w-]+\.[\w-]+\.[\w-]+$/m.exec(shown) ?? []
  const asFirst = (...argv: string[]) =>
    runCli([...argv, '--json', '--config', fresh], { env: { PORTAGE_TOKEN: token }, asAdministrator: false })
  const { tokens } = (await asFirst('token', 'list')).json() as { tokens: IssuedToken[] }
  const first = tokens.find(({ name }) => name === 'first-admin')
  expect(first).toMatchObject({ level: 'admin', jti: expect.any(String) })
  expect(shown).toContain(first!.jti)
  expect((await asFirst(...halt)).code).toBe(0)
  expect((await asFirst(...unhalt)).code).toBe(0)
  expect((await asFirst('token', 'revoke', first!.jti, '--reason', 'a test')).code).toBe(0)
  expect((await asFirst(...halt)).json()).toMatchObject({ error: { code: 'ACCESS_TOKEN_REVOKED' } })
  expect((await settings()).audit.find(({ order }) => order.kind === 'addToken' && order.token.jti === first!.jti)).toMatchObject({
    by: 'portage',
  })
})

test('the first start shows the first token on a terminal only; a start with Temporal lists it', async () => {
  const fresh = join(folder, 'fresh.yaml')
  const dataFolder = join(folder, 'fresh-data')
  const write = (temporal: object) => writeFile(fresh, stringify(JSON.parse(JSON.stringify({ ...config, temporal, dataFolder }))))
  await write({ address: `127.0.0.1:${await freePort()}` })
  const start = (isTTY: boolean) =>
    firstStart(fresh, isTTY, () =>
      readFile(join(dataFolder, 'access-keys.json')).then(
        () => true,
        () => false,
      ),
    )
  const shown = await start(true)
  expect(shown).toMatch(/The first access token \(level admin, for a day, id [0-9a-f-]{36}\), shown only now:\n\n[\w-]+\.[\w-]+\.[\w-]+\n/)
  expect(await start(true)).toBe('')
  // Neither start reached Temporal. A start that reaches Temporal lists the token there and does not print it.
  await write(config.temporal)
  const noneIsLeft = async () => !(await readdir(dataFolder)).includes('first-token.json')
  expect(await noneIsLeft()).toBe(false)
  expect(await firstStart(fresh, true, noneIsLeft)).toBe('')
  expect((await settings()).tokens.filter(({ jti }) => shown.includes(jti))).toMatchObject([{ name: 'first-admin' }])
  await write({ address: `127.0.0.1:${await freePort()}` })
  await rm(dataFolder, { recursive: true })
  expect(await start(false)).toBe('')
})

/** Commands that run until stopped, wait for a chain, or write into the test's folder. Other tests run them. */
const elsewhere =
  /^(run|codec-server|doctor|init|transfer watch|audit run|lane (top-up|sweep|send)|keystore|archive run --every|completion)\b/

/** Commands that need only Temporal, a ledger worker and one lane. Others may fail with a code of the catalogue. */
const succeeds =
  /^(shadow|settings|halt|unhalt|deny|fees|setup temporal|config|token (create|list|keys|rotate-key)|transfer list|stream list|lane (show|pause|resume|drain|forbid|set-windows?|batches|transactions)|audit show)\b/

test('every documented command line succeeds, or is refused with a code of the catalogue', async () => {
  const { bsc } = config.chains
  const lane = { address: `0x${'a'.repeat(40)}` }
  const chains = { ...config.chains, bsc: { ...bsc!, nodes: bsc!.nodes.map((node) => ({ ...node, name: 'bsc' })), lanes: [lane] } }
  const documented = join(folder, 'documented.yaml')
  await writeFile(documented, stringify(JSON.parse(JSON.stringify({ ...config, chains, dataFolder: join(folder, 'documented-data') }))))
  await ledgers.client({ lane: `evm-1397:${lane.address}`, window: 8, fillAfterBlocks: 3 }).introduce()
  const lines = [...new Map(documentedCommands().map(({ argv }) => [argv.join(' '), argv])).values()].filter(
    (argv) => !elsewhere.test(argv.join(' ')) && !argv.includes('--config') && !argv.includes('--help'),
  )
  expect(lines.length).toBeGreaterThan(60)
  const faults: unknown[] = []
  for (const argv of lines) {
    const { code, out, err } = await runCli([...argv, '--json', '--config', documented], { cwd: folder })
    const line = argv.join(' ')
    const answer = parsed(out)
    const isGood = code === 0 || (code === 1 && !succeeds.test(line) && answer?.error?.code !== 'INTERNAL')
    if (!isGood || answer === undefined) faults.push({ line, code, out: out.slice(0, 300), err: err.slice(0, 300) })
  }
  expect(faults).toEqual([])
})

function parsed(out: string): { readonly error?: { readonly code: string } } | undefined {
  try {
    return JSON.parse(out) as { readonly error?: { readonly code: string } }
  } catch {
    return undefined
  }
}
