import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Payload } from '@temporalio/common'
import { encryptKeystoreJson, Wallet } from 'ethers'
import { stringify } from 'yaml'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Child, startChild } from '../../lab/devnet/child.ts'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import type { ConfigInput } from '../../lab/devnet/relayer-config.ts'
import { devnetQuoter } from '../../lab/devnet/executor/deploy.ts'
import { run } from '../../lab/devnet/run.ts'
import { until } from '../../lab/devnet/until.ts'
import { startWeb3Signer, type Web3Signer } from '../../lab/devnet/signing/web3signer.ts'
import { createEncryptionCodec } from '../../temporal/encryption/codec.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'
import { decoded, strings } from '../helpers/json-texts.ts'
import { startOtlpReceiver } from '../helpers/otlp-receiver.ts'
import { type SecretNode, startSecretNode } from '../helpers/secret-node.ts'

const password = 'secret-password-of-the-keystore'
const signerPassword = 'secret-password-of-the-signer'
const payloadKeys = { one: randomBytes(32), two: randomBytes(32) }
type PayloadKeyId = keyof typeof payloadKeys
const encryption = {
  keys: (['one', 'two'] as const).map((id) => ({ id, source: { from: 'a test', read: () => payloadKeys[id].toString('base64') } })),
  required: true,
}
const codec = createEncryptionCodec(encryption)
const ui = 'http://ui.example'
const launcher = fileURLToPath(new URL('../../bin/portage.js', import.meta.url))
const chainNames = ['ethereum', 'bsc'] as const

describe('Keys, passwords and what is secret in URLs', { timeout: 600_000 }, () => {
  let stage: Stage
  let env: NodeJS.ProcessEnv = {}
  let nodes: Record<(typeof chainNames)[number], SecretNode>
  let signer: Web3Signer
  let portage: PortageProcess
  let codecServer: { child: Child; url: string; logFile: string } | undefined
  let receiver: Awaited<ReturnType<typeof startOtlpReceiver>>
  /** All text that can be read outside the process, by place. */
  const collected = new Map<string, string>()

  beforeAll(async () => {
    stage = await startStage({ encryption })
    const { devnet } = stage
    nodes = {
      ethereum: await startSecretNode(devnet.chains.ethereum.anvil.url, 'ethereum'),
      bsc: await startSecretNode(devnet.chains.bsc.anvil.url, 'bsc'),
    }
    signer = await startWeb3Signer(devnet.lanes)
    const key = devnet.lanes.find(({ chain }) => chain === 'ethereum')?.privateKey ?? ''
    for (const [file, secret] of [
      ['lane.json', key],
      ['quoter.json', devnetQuoter.privateKey],
    ] as const) {
      const keystore = await encryptKeystoreJson(new Wallet(secret), password, { scrypt: { N: 1024, r: 8, p: 1 } })
      await writeFile(join(devnet.dir, file), keystore)
    }
    await writeFile(join(devnet.dir, 'lane.password'), password)
    const noKeys = Object.fromEntries(devnet.lanes.map(({ variable }) => [variable, '']))
    receiver = await startOtlpReceiver()
    env = { ...noKeys, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, PAYLOAD_KEY_ONE: payloadKeys.one.toString('hex') }
    await writeFile(join(devnet.dir, 'payloads-two.key'), `${payloadKeys.two.toString('base64')}\n`, { mode: 0o600 })
    portage = await start('one')
    codecServer = await startCodecServer()
  })

  afterAll(async () => {
    await codecServer?.child.stop()
    await stage?.close()
    await signer?.stop()
  })

  function start(...keys: readonly PayloadKeyId[]): Promise<PortageProcess> {
    return stage.portage({ configure: (config) => encrypted(withSecrets(config), keys), args: ['--log-level', 'debug'], env })
  }

  function encrypted(config: ConfigInput, keys: readonly PayloadKeyId[]): ConfigInput {
    const places = { one: { id: 'one', keyVariable: 'PAYLOAD_KEY_ONE' }, two: { id: 'two', keyFile: 'payloads-two.key' } }
    const payloads = { keys: keys.map((id) => places[id]), required: true }
    return { ...config, temporal: { ...config.temporal, encryption: payloads }, codecServer: { port: 0, origins: [ui] } }
  }

  async function configOf(keys: readonly PayloadKeyId[]): Promise<string> {
    const file = join(stage.devnet.dir, `keys-${keys.join('-')}.yaml`)
    await writeFile(file, stringify(encrypted(withSecrets(stage.devnet.relayerConfig()), keys)))
    return file
  }

  async function startCodecServer() {
    const logFile = join(stage.devnet.dir, 'codec-server.log')
    const args = [launcher, '--config', await configOf(['two', 'one']), 'codec-server', '--log-level', 'debug']
    const child = await startChild(process.execPath, args, { logFile, env: { ...process.env, ...env } })
    const port = async () => /"port":(\d+).*"message":"the codec server listens"/.exec(await readFile(logFile, 'utf8').catch(() => ''))?.[1]
    const url = `http://127.0.0.1:${await until(port, { timeoutMs: 60_000, what: 'the codec server to listen', giveUp: () => child.ended && child.tail() })}`
    const headers = { ...portage.admin, 'content-type': 'application/json' }
    const serves = async () => (await fetch(`${url}/decode`, { method: 'POST', headers, body: '{"payloads":[]}' })).ok
    await until(serves, { timeoutMs: 60_000, what: 'the codec server to know which tokens are revoked' })
    return { child, url, logFile }
  }

  /** Puts secrets into the nodes' URLs. Ethereum's lane gets a keystore, bsc's lane a remote signer with a password. */
  function withSecrets(config: ConfigInput): ConfigInput {
    const remote = { kind: 'remote' as const, url: signer.url.replace('//', `//secret-user-of-the-signer:${signerPassword}@`) }
    const keystore = { kind: 'keystore' as const, file: 'lane.json', passwordFile: 'lane.password' }
    const chains = Object.fromEntries(
      Object.entries(config.chains).map(([name, chain]) => {
        const here = name === 'ethereum'
        const lanes = (chain.lanes ?? []).map((lane) => ({ ...lane, signer: here ? keystore : remote }))
        const { url, authorization } = nodes[here ? 'ethereum' : 'bsc']
        return [name, { ...chain, nodes: [{ url, authorization }], lanes }]
      }),
    )
    const own = { contract: `0x${'ee'.repeat(20)}`, payee: devnetQuoter.address, price: '1' }
    const quoter = { address: devnetQuoter.address, signer: { ...keystore, file: 'quoter.json' } }
    const executor = { quoter, chains: Object.fromEntries(chainNames.map((name) => [name, own])) }
    return { ...config, chains, bridges: { ...config.bridges, executor } }
  }

  function secrets(): string[] {
    const keys = [...stage.devnet.lanes, devnetQuoter].map(({ privateKey }) => privateKey.slice(2))
    const credentials = [
      ...Object.values(nodes).map(({ secrets: [user, pass] }) => `${user}:${pass}`),
      `secret-user-of-the-signer:${signerPassword}`,
    ]
    const urls = Object.values(nodes).flatMap((node) => node.secrets)
    const encoded = credentials.map((text) => Buffer.from(text).toString('base64'))
    const ofPayloads = Object.values(payloadKeys).flatMap((key) => [key.toString('hex'), key.toString('base64'), key.toString('base64url')])
    return [...keys, ...ofPayloads, password, 'secret-user-of-the-signer', signerPassword, ...urls, ...encoded].map((text) =>
      text.toLowerCase(),
    )
  }

  const tell = (where: string, text: string) => collected.set(where, `${collected.get(where) ?? ''}\n${text}`)

  async function cli(...args: string[]): Promise<void> {
    const command = [launcher, '--config', portage.configPath, ...args]
    const { stdout, stderr } = await run(process.execPath, command, { timeoutMs: 60_000, env: { ...process.env, ...env } })
    tell(`portage ${args.join(' ')}`, stdout + stderr)
  }

  async function ask(path: string): Promise<void> {
    tell(`GET ${path}`, await (await fetch(`${portage.apiUrl}${path}`, { headers: portage.admin })).text())
  }

  async function askAdmin(): Promise<void> {
    for (const path of ['/healthz', '/readyz', '/metrics'])
      tell(`the admin port: ${path}`, await (await fetch(portage.adminUrl + path)).text())
  }

  /** Collects histories, memos, search attributes and activity failures: as Temporal stores them, and decrypted. */
  async function readTemporal(): Promise<number> {
    let read = 0
    for await (const { workflowId, runId } of stage.client.workflow.list()) {
      for (const [command, more] of [
        ['show', []],
        ['describe', ['--raw']],
      ] as const) {
        const { stdout } = await stage.temporal('workflow', command, '-w', workflowId, '-r', runId, '-o', 'json', ...more)
        const raw: unknown = JSON.parse(stdout)
        tell(`raw ${command} ${workflowId}`, `${stdout}\n${strings(raw).map(decoded).join('\n')}`)
        tell(
          `temporal workflow ${command} ${workflowId}`,
          strings(await decrypted(raw))
            .map(decoded)
            .join('\n'),
        )
      }
      read++
    }
    return read
  }

  test('secrets are in no history, log, metric, answer or error, with and without failures', async () => {
    const coin = { kind: 'coin' as const, amount: 10n ** 16n }
    const [early, back] = await Promise.all([
      stage.send('ethereum', [coin, coin, { kind: 'token', amount: 10n ** 18n }]),
      stage.send('bsc', [coin]),
    ])
    await stage.outcomes([...early, ...back])

    // Errors of the nodes quote their own URLs. Later the remote signer refuses to sign.
    signer.mode = 503
    const late = await stage.send('ethereum', [coin, coin])
    await until(() => signer.refusals > 2, { timeoutMs: 120_000, what: 'the signer to have been asked in vain' })
    for (const node of Object.values(nodes)) node.failing = true
    await until(() => Object.values(nodes).every(({ failed }) => failed > 5), {
      timeoutMs: 120_000,
      what: 'nodes to have been asked in vain',
    })
    await readTemporal()
    await ask('/ready')
    await ask('/metrics')
    await askAdmin()
    await cli('doctor', '--json')
    await cli('doctor')

    for (const node of Object.values(nodes)) node.failing = false
    // The second process encrypts with another key. Transfers that waited for the signer must continue in this process.
    await stage.end(portage)
    tell('the log of the first process', await readFile(portage.logFile, 'utf8'))
    portage = await start('two', 'one')
    signer.mode = 'well'
    const ends = await stage.outcomes(late, 180_000)
    expect(ends.map(({ state }) => state)).toEqual(['delivered', 'delivered'])
    for (const path of [
      '/',
      '/openapi.json',
      '/ready',
      '/metrics',
      '/v1/transfers',
      '/v0/capabilities',
      ...late.map(({ id }) => `/v1/transfers/${encodeURIComponent(id)}`),
    ]) {
      await ask(path)
    }
    const body = JSON.stringify({ srcChain: 2, dstChain: 4 })
    const quote = await fetch(`${portage.apiUrl}/v0/quote`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    tell('POST /v0/quote', await quote.text())
    expect(quote.status).toBe(200)
    for (const args of [
      ['doctor'],
      ['config', 'show'],
      ['config', 'check'],
      ['lane', 'list', '--json'],
      ['transfer', 'show', late[0]?.id ?? ''],
    ])
      await cli(...args)
    expect(await readTemporal()).toBeGreaterThanOrEqual(early.length + back.length + late.length)
    await askAdmin()
    await stage.end(portage)
    tell('traces', receiver.bodies.join('\n'))
    tell('the log', await readFile(portage.logFile, 'utf8'))
    tell('the log of the codec server', await readFile(codecServer?.logFile ?? '', 'utf8'))

    const leaks = [...collected].flatMap(([where, text]) =>
      secrets()
        .filter((secret) => text.toLowerCase().includes(secret))
        .map((secret) => `${where}: ${secret}`),
    )
    expect(leaks).toEqual([])
    // The search for secrets means nothing unless it reads decrypted payloads and errors of nodes and signers.
    const all = [...collected.values()].join('\n')
    expect(collected.get(`temporal workflow show ${late[0]?.id}`)).toContain('"callHash"')
    expect(all).toContain('SIGNER_OFFLINE')
    expect(collected.get('traces')).toContain('rpc eth_sendRawTransaction')
    expect(collected.get('the admin port: /metrics')).toContain('temporal_')
    for (const url of [signer.url, ...Object.values(nodes).map((node) => node.url)]) expect(all).toContain(new URL(url).host)
    expect(Object.values(nodes).every(({ served }) => served > 0)).toBe(true)

    // Without a key, Temporal shows only ids, search attributes and error codes.
    const raw = [...collected].flatMap(([where, text]) => (where.startsWith('raw ') ? [text] : [])).join('\n')
    for (const text of ['callHash', 'gasLimit', 'maxFee', 'The signer', 'digest', 'Error:', late[0]?.recipient ?? 'no recipient'])
      expect(raw.toLowerCase()).not.toContain(text.toLowerCase())
    expect(raw).toContain('TransferState')
    expect([raw.includes('SIGNER_OFFLINE'), raw.includes('binary/encrypted')]).toEqual([true, true])

    // A command that has one of two keys decrypts the payloads of this key. For other payloads it names the missing
    // key.
    const show = async (id = '', keys: readonly PayloadKeyId[] = ['two']) => {
      const args = [launcher, '--config', await configOf(keys), '--json', 'transfer', 'show', id]
      const { code, stdout } = await run(process.execPath, args, { timeoutMs: 60_000, env: { ...process.env, ...env } })
      return { code, answer: JSON.parse(stdout) as unknown }
    }
    const unknown = { error: { code: 'ENCRYPTION_KEY_UNKNOWN', facts: { key: 'one' } } }
    expect(await show(early[0]?.id)).toMatchObject({ code: 1, answer: unknown })
    expect(await show(early[0]?.id, ['two', 'one'])).toMatchObject({ code: 0, answer: { state: 'delivered' } })
    expect(await show(late[0]?.id)).toMatchObject({ code: 0, answer: { state: 'delivered' } })
  })

  test("payloads are read through the codec server with an access token and Temporal's own command line", async () => {
    const { url = '', logFile = '' } = codecServer ?? {}
    const [first] = stage.sent
    const show = (...more: string[]) =>
      stage.temporal('workflow', 'show', '-w', first?.id ?? '', '-o', 'json', '--codec-endpoint', url, ...more)
    const { stdout } = await show('--codec-auth', portage.admin.authorization)
    expect(strings(JSON.parse(stdout)).map(decoded).join('\n')).toContain('callHash')
    const [line = ''] = /^temporal .*--codec-endpoint.*$/m.exec(await readFile('docs/operate/temporal/encryption.md', 'utf8')) ?? []
    const typed = line
      .replace('<id>', first?.id ?? '')
      .replace('http://127.0.0.1:8098', url)
      .replace('Bearer $PORTAGE_TOKEN', portage.admin.authorization)
    const words = (typed.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''))
    expect(words.slice(0, 3)).toEqual(['temporal', 'workflow', 'show'])
    expect((await stage.temporal(...words.slice(1))).stdout).toContain('delivered')
    for (const auth of [[], ['--codec-auth', `${portage.admin.authorization}x`]] as const)
      expect(await show(...auth).then(({ stdout: text }) => strings(JSON.parse(text)).map(decoded).join('\n'), String)).not.toContain(
        'callHash',
      )
    const log = await readFile(logFile, 'utf8')
    expect(log).toContain('payloads were decrypted')
    expect(log).not.toContain('callHash')
    expect(log).not.toContain(portage.admin.authorization.split(' ')[1])
  })
})

/** Replaces every encrypted payload in a JSON value with its plain content. Throws if a payload cannot be decrypted. */
async function decrypted(value: unknown): Promise<unknown> {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return Promise.all(value.map(decrypted))
  const { metadata, data } = value as { readonly metadata?: Record<string, string>; readonly data?: string }
  if (typeof metadata === 'object' && typeof data === 'string' && decoded(metadata['encoding'] ?? '') === 'binary/encrypted') {
    const bytes = Object.entries(metadata).map(([name, text]) => [name, Buffer.from(text, 'base64')] as const)
    const [plain] = (await codec.decode([{ metadata: Object.fromEntries(bytes), data: Buffer.from(data, 'base64') }])) as [Payload]
    return Buffer.from(plain.data ?? []).toString()
  }
  const entries = Object.entries(value).map(async ([name, one]) => [name, await decrypted(one)] as const)
  return Object.fromEntries(await Promise.all(entries))
}
