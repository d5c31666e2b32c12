import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { startChild } from '../../lab/devnet/child.ts'
import { type Devnet, startDevnet } from '../../lab/devnet/index.ts'
import { type PortageProcess, startPortage } from '../../lab/devnet/portage-process.ts'
import type { ConfigInput } from '../../lab/devnet/relayer-config.ts'
import { type CertificateFiles, createTestCa, hasOpenssl, type TestCa } from '../../lab/devnet/temporal/certificates.ts'
import { knownTemporalServer } from '../../lab/devnet/temporal/find-temporal-server.ts'
import { type SecuredTemporal, startSecuredTemporal } from '../../lab/devnet/temporal/temporal-server.ts'
import type { TemporalServer } from '../../lab/devnet/temporal/temporal.ts'
import { createTokenIssuer, keySetOf } from '../../lab/devnet/temporal/tokens.ts'
import { until } from '../../lab/devnet/until.ts'
import { quickTakeover } from '../../lab/devnet/relayer-config.ts'
import { runCli } from '../cli/run-cli.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const path = knownTemporalServer()
const runs = path !== undefined && (await hasOpenssl())
if (!runs)
  process.stdout.write(
    'NOT RUN: test/e2e/temporal-access.test.ts (it needs a Temporal server, which npm test builds where Go is, and openssl)\n',
  )

const coin = { kind: 'coin', amount: 10n ** 17n } as const
const namespace = 'bridge'
const good = { transfers: 2, delivered: 2, duplicates: 0, wrongBalances: 0 }
const launcher = fileURLToPath(new URL('../../bin/portage.js', import.meta.url))
/** Maximum wait until a new credential is used, ms: two reads of its file on a busy machine. */
const rereadMs = 60_000

/** Temporal as in production: it requires a client certificate, and a JWT that permits the namespace. */
describe.skipIf(!runs)('Temporal with mTLS and authorization', { timeout: 300_000 }, () => {
  const dir = temporaryFolder()
  let server: SecuredTemporal
  let devnet: Devnet
  let portage: PortageProcess | undefined
  let ca: TestCa
  let other: TestCa
  let client: CertificateFiles
  const issuer = createTokenIssuer()
  const leaving = createTokenIssuer()
  const revoked = leaving.issue([`${namespace}:write`])
  const tokens = {
    admin: issuer.issue(['temporal-system:admin']),
    writes: issuer.issue([`${namespace}:write`]),
    reads: issuer.issue([`${namespace}:read`]),
    elsewhere: issuer.issue(['elsewhere:write']),
    expired: issuer.issue([`${namespace}:write`], { endsInSeconds: -60 }),
    forged: createTokenIssuer().issue([`${namespace}:write`]),
  }
  const said: string[] = []
  const logs: string[] = []

  beforeAll(async () => {
    ;[ca, other] = await Promise.all([createTestCa(join(dir, 'ca'), 'ca'), createTestCa(join(dir, 'other'), 'other')])
    client = await ca.issue('client')
    const file = (name: string) => ({ from: 'a test', file: name, read: () => readFileSync(name, 'utf8') })
    server = await startSecuredTemporal({
      path: path!,
      dir,
      tls: { server: await ca.issue('server'), clientCas: [ca.file] },
      keySet: keySetOf(issuer, leaving),
      namespaces: [namespace, 'elsewhere'],
      admin: {
        tls: { ca: file(ca.file), certificate: file(client.certificate), key: file(client.key) },
        apiKey: { from: 'a test', read: () => tokens.admin },
      },
    })
    // The devnet uses only the address of this server. It starts no Temporal server of its own.
    const temporal = { ...server, namespace: 'default' } as unknown as TemporalServer
    devnet = await startDevnet({ temporal, blockTimeSeconds: 0.25, worker: quickTakeover })
  })
  afterAll(async () => {
    await portage?.stop(15_000)
    await devnet?.stop()
    await server?.stop()
  })

  type TemporalInput = NonNullable<ConfigInput['temporal']>
  const access = (more: TemporalInput = {}): TemporalInput => ({
    address: server.address,
    namespace,
    tls: { caFile: ca.file, certificateFile: client.certificate, keyFile: client.key },
    ...more,
  })

  async function cli(args: readonly string[], { temporal = {}, env = {} }: { temporal?: TemporalInput; env?: NodeJS.ProcessEnv } = {}) {
    const config = join(dir, `cli-${said.length}.yaml`)
    await writeFile(config, stringify({ ...devnet.relayerConfig(), temporal: access(temporal) }))
    const answer = await runCli([...args, '--json', '--config', config], { env: { ...devnet.env, ...env } })
    said.push(answer.out, answer.err)
    return answer
  }

  test('a process uses a renewed API key and a renewed certificate without a restart', async () => {
    const files = { key: join(dir, 'api-key'), certificate: join(dir, 'mine.pem'), private: join(dir, 'mine.key') }
    const renew = async (pair: CertificateFiles) => {
      await writeFile(files.certificate, await readFile(pair.certificate))
      await writeFile(files.private, await readFile(pair.key))
    }
    await writeFile(files.key, revoked)
    await renew(client)
    const tls = { caFile: ca.file, certificateFile: files.certificate, keyFile: files.private }
    const configure = (config: ConfigInput) => ({ ...config, temporal: access({ tls, apiKeyFile: files.key, useEnvironment: false }) })
    const running = await startPortage(devnet, { configure })
    portage = running
    const logged = async (message: string) => (await readFile(running.logFile, 'utf8')).includes(`"message":"${message}"`)
    const deliver = async (count: number) => {
      const sent = await devnet.users.ethereum.send(Array.from({ length: count }, () => coin))
      const all = async () => {
        const found = await devnet.check(sent)
        return found.lost === 0 && found
      }
      return until(all, { timeoutMs: 90_000, everyMs: 250, what: `${count} transfers to be delivered`, giveUp: () => running.ended })
    }
    expect(await deliver(2)).toMatchObject(good)

    await writeFile(files.key, tokens.writes)
    await until(() => logged('the API key of Temporal was read again'), { timeoutMs: rereadMs, what: 'the new API key' })
    // The process must not use a certificate without its key, and must not stop.
    const renewed = await ca.issue('renewed')
    await writeFile(files.certificate, await readFile(renewed.certificate))
    const refused = 'new credentials for Temporal cannot be used; keeping the previous ones'
    await until(() => logged(refused), { timeoutMs: rereadMs, what: 'half a pair to be refused' })
    await renew(renewed)
    await until(() => logged('the credentials of Temporal were read again'), { timeoutMs: rereadMs, what: 'the new certificate' })
    await server.useKeySet(keySetOf(issuer))
    const refusedKey = async () => {
      const { out } = await cli(['transfer', 'list'], { env: { TEMPORAL_API_KEY: revoked } })
      return out.includes('TEMPORAL_API_KEY_REFUSED')
    }
    await until(refusedKey, { timeoutMs: 60_000, everyMs: 500, what: 'the server to refuse the first API key' })
    expect(await deliver(2)).toMatchObject(good)
    const listed = async () => {
      const { out } = await cli(['transfer', 'list', '--state', 'delivered'], { env: { TEMPORAL_API_KEY: tokens.reads } })
      return (JSON.parse(out) as { transfers?: object[] }).transfers?.length === 4
    }
    // The list shows a delivery only after it is final, and so later than the chain.
    await until(listed, { timeoutMs: 60_000, everyMs: 250, what: 'the list to have four delivered transfers' })
  })

  test('a key that may only read can show but not order, and a key that may write can order', async () => {
    const lane = devnet.lanes[0]!.address
    const pause = ['lane', 'pause', lane, '--reason', 'a test']
    const env = { TEMPORAL_API_KEY: tokens.reads }
    expect((await cli(['lane', 'list'], { env })).code).toBe(0)
    const toml = join(dir, 'temporal.toml')
    await writeFile(toml, `[profile.look]\naddress = "${server.address}"\nnamespace = "${namespace}"\napi_key = "${tokens.reads}"\n`, {
      mode: 0o600,
    })
    const profile = { TEMPORAL_CONFIG_FILE: toml, TEMPORAL_PROFILE: 'look' }
    expect((await cli(['lane', 'list'], { temporal: { address: '127.0.0.1:1', namespace: 'nowhere' }, env: profile })).code).toBe(0)
    const refused = await cli(pause, { env })
    expect([refused.code, refused.json()]).toMatchObject([
      1,
      { error: { code: 'TEMPORAL_PERMISSION', remedy: expect.stringContaining('write for workers and orders') } },
    ])
    // The environment variable must override the config's missing file.
    const ordered = await cli(pause, { temporal: { apiKeyFile: '/not/there' }, env: { TEMPORAL_API_KEY: tokens.writes } })
    expect([ordered.code, ordered.err]).toEqual([0, ''])
    expect((await cli(['lane', 'resume', lane, '--reason', 'a test'], { env: { TEMPORAL_API_KEY: tokens.writes } })).code).toBe(0)
  })

  test('each wrong credential has an error of its own', async () => {
    const foreign = await other.issue('foreign')
    const expired = await ca.issue('expired', -1)
    const pair = ({ certificate, key }: CertificateFiles) => ({ caFile: ca.file, certificateFile: certificate, keyFile: key })
    const key = (apiKey: string) => ({ TEMPORAL_API_KEY: apiKey })
    const cases: [string, string, TemporalInput, NodeJS.ProcessEnv][] = [
      ['plain text', 'TEMPORAL_TLS', { tls: { disabled: true } }, key(tokens.writes)],
      ['no certificate', 'TEMPORAL_CERTIFICATE_REFUSED', { tls: { caFile: ca.file } }, key(tokens.writes)],
      ["another CA's certificate", 'TEMPORAL_CERTIFICATE_REFUSED', { tls: pair(foreign) }, key(tokens.writes)],
      ['an expired certificate', 'TEMPORAL_CREDENTIALS', { tls: pair(expired) }, key(tokens.writes)],
      ['an unknown CA', 'TEMPORAL_UNTRUSTED', { tls: { ...pair(client), caFile: other.file } }, key(tokens.writes)],
      ["another server's name", 'TEMPORAL_UNTRUSTED', { tls: { ...pair(client), serverName: 'temporal.example' } }, key(tokens.writes)],
      ['no API key', 'TEMPORAL_PERMISSION', {}, {}],
      ["another issuer's API key", 'TEMPORAL_API_KEY_REFUSED', {}, key(tokens.forged)],
      ['an expired API key', 'TEMPORAL_API_KEY_REFUSED', {}, key(tokens.expired)],
      ['the API key of another namespace', 'TEMPORAL_PERMISSION', {}, key(tokens.elsewhere)],
      ['a namespace that is not there', 'TEMPORAL_NAMESPACE', { namespace: 'nowhere' }, key(tokens.admin)],
    ]
    const found: [string, unknown][] = []
    for (const [what, , temporal, env] of cases) {
      const { out } = await cli(['transfer', 'list'], { temporal, env })
      const { error } = JSON.parse(out) as { error?: { code: string; remedy: string } }
      found.push([what, error?.remedy ? error.code : out])
    }
    expect(found).toEqual(cases.map(([what, code]) => [what, code]))
  })

  test('the doctor shows the identity and the rights of a credential, and its source', async () => {
    const { json } = await cli(['doctor'], { env: { TEMPORAL_API_KEY: tokens.reads } })
    const { checks } = json() as { checks: { area: string; name: string; status: string; detail: string }[] }
    const temporal = Object.fromEntries(
      checks.filter(({ area }) => area === 'temporal').map(({ name, status, detail }) => [name, { status, detail }]),
    )
    expect(temporal).toMatchObject({
      access: {
        status: 'ok',
        detail: expect.stringContaining('certificate from the config file, key from the config file, apiKey from TEMPORAL_API_KEY'),
      },
      server: { status: 'ok' },
      namespace: { status: 'ok' },
      permission: { status: 'warn', detail: expect.stringContaining('can read, and not write') },
      'search attributes': { status: 'ok' },
    })
  })

  test('a worker with a foreign key, or without write access, gets no work, waits, and reports why', async () => {
    const refused = async (name: string, token: string) => {
      const config = join(dir, `${name}.yaml`)
      const logFile = join(dir, `${name}.log`)
      logs.push(logFile)
      await writeFile(config, stringify({ ...devnet.relayerConfig(), temporal: access() }))
      const child = await startChild(process.execPath, [launcher, '--config', config, 'run', '--role', 'ledger'], {
        logFile,
        env: { PATH: process.env['PATH'], HOME: dir, ...devnet.env, TEMPORAL_API_KEY: token },
      })
      const giveUp = () => child.ended && `${child.ended}: ${child.tail()}`
      const log = () => readFile(logFile, 'utf8')
      await until(async () => (await log()).includes('"code":"TEMPORAL_PERMISSION"'), {
        timeoutMs: 60_000,
        what: `${name} to be refused`,
        giveUp,
      })
      await child.stop(60_000)
      expect([child.ended, (await log()).includes('"message":"running"')]).toEqual(['ended with code 0', false])
    }
    await Promise.all([refused('elsewhere', tokens.elsewhere), refused('reads', tokens.reads)])
  })

  test('no output or log contains an API key or a private key', async () => {
    const texts = await Promise.all([portage!.logFile, ...logs].map((file) => readFile(file, 'utf8')))
    const everything = [...texts, ...said].join('\n')
    const key = (await readFile(client.key, 'utf8')).split('\n')[1]!
    for (const secret of [...[revoked, ...Object.values(tokens)].map((token) => token.split('.')[2]!), key])
      expect(everything).not.toContain(secret)
  })
})
