import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { encryptKeystoreJson, Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PortageProcess } from '../../lab/devnet/portage-process.ts'
import type { ConfigInput } from '../../lab/devnet/relayer-config.ts'
import { run } from '../../lab/devnet/run.ts'
import { until } from '../../lab/devnet/until.ts'
import { startWeb3Signer, type Web3Signer } from '../../lab/devnet/signing/web3signer.ts'
import { type Stage, startStage } from '../helpers/e2e.ts'
import { startOtlpReceiver } from '../helpers/otlp-receiver.ts'
import { type SecretNode, startSecretNode } from '../helpers/secret-node.ts'

const password = 'secret-password-of-the-keystore'
const signerPassword = 'secret-password-of-the-signer'
const launcher = fileURLToPath(new URL('../../bin/portage.js', import.meta.url))
const chainNames = ['ethereum', 'bsc'] as const

describe('Keys, passwords and what is secret in URLs', { timeout: 600_000 }, () => {
  let stage: Stage
  let nodes: Record<(typeof chainNames)[number], SecretNode>
  let signer: Web3Signer
  let portage: PortageProcess
  /** Of its traces. */
  let receiver: Awaited<ReturnType<typeof startOtlpReceiver>>
  /** All text that can be read outside the process, by its place. */
  const collected = new Map<string, string>()

  beforeAll(async () => {
    stage = await startStage()
    const { devnet } = stage
    nodes = {
      ethereum: await startSecretNode(devnet.chains.ethereum.anvil.url, 'ethereum'),
      bsc: await startSecretNode(devnet.chains.bsc.anvil.url, 'bsc'),
    }
    signer = await startWeb3Signer(devnet.lanes)
    const key = devnet.lanes.find(({ chain }) => chain === 'ethereum')?.privateKey ?? ''
    await writeFile(
      join(devnet.dir, 'lane.json'),
      await encryptKeystoreJson(new Wallet(key), password, { scrypt: { N: 1024, r: 8, p: 1 } }),
    )
    await writeFile(join(devnet.dir, 'lane.password'), password)
    const noKeys = Object.fromEntries(devnet.lanes.map(({ variable }) => [variable, '']))
    receiver = await startOtlpReceiver()
    const env = { ...noKeys, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }
    portage = await stage.portage({ configure: withSecrets, args: ['--log-level', 'debug'], env })
  })

  afterAll(async () => {
    await stage?.close()
    await signer?.stop()
    await receiver?.stop()
    for (const node of Object.values(nodes ?? {})) await node.stop()
  })

  /** Nodes whose URLs are secrets; ethereum's lane by a keystore, BSC's by a remote signer with a password. */
  function withSecrets(config: ConfigInput): ConfigInput {
    const remote = { kind: 'remote' as const, url: signer.url.replace('//', `//secret-user-of-the-signer:${signerPassword}@`) }
    const keystore = { kind: 'keystore' as const, file: 'lane.json', passwordFile: 'lane.password' }
    const chains = Object.fromEntries(
      Object.entries(config.chains).map(([name, chain]) => {
        const here = name === 'ethereum'
        const lanes = (chain.lanes ?? []).map((lane) => ({ ...lane, signer: here ? keystore : remote }))
        return [name, { ...chain, nodes: [{ url: nodes[here ? 'ethereum' : 'bsc'].url }], lanes }]
      }),
    )
    return { ...config, chains }
  }

  function secrets(): string[] {
    const keys = stage.devnet.lanes.map(({ privateKey }) => privateKey.slice(2))
    const credentials = [
      ...Object.values(nodes).map(({ secrets: [user, pass] }) => `${user}:${pass}`),
      `secret-user-of-the-signer:${signerPassword}`,
    ]
    const urls = Object.values(nodes).flatMap((node) => node.secrets)
    const encoded = credentials.map((text) => Buffer.from(text).toString('base64'))
    return [...keys, password, 'secret-user-of-the-signer', signerPassword, ...urls, ...encoded].map((text) => text.toLowerCase())
  }

  const tell = (where: string, text: string) => collected.set(where, `${collected.get(where) ?? ''}\n${text}`)

  async function cli(...args: string[]): Promise<void> {
    const { stdout, stderr } = await run(process.execPath, [launcher, '--config', portage.configPath, ...args], { timeoutMs: 60_000 })
    tell(`portage ${args.join(' ')}`, stdout + stderr)
  }

  async function ask(path: string): Promise<void> {
    tell(`GET ${path}`, await (await fetch(`${portage.apiUrl}${path}`, { headers: portage.admin })).text())
  }

  async function askAdmin(): Promise<void> {
    for (const path of ['/healthz', '/readyz', '/metrics'])
      tell(`the admin port: ${path}`, await (await fetch(portage.adminUrl + path)).text())
  }

  /** Histories, memos, search attributes and the failures of activities that are being tried again. */
  async function readTemporal(): Promise<number> {
    let read = 0
    for await (const { workflowId, runId } of stage.client.workflow.list()) {
      for (const [command, more] of [
        ['show', []],
        ['describe', ['--raw']],
      ] as const) {
        const { stdout } = await stage.temporal('workflow', command, '-w', workflowId, '-r', runId, '-o', 'json', ...more)
        tell(`temporal workflow ${command} ${workflowId}`, `${stdout}\n${strings(JSON.parse(stdout)).map(decoded).join('\n')}`)
      }
      read++
    }
    return read
  }

  test('are in no history, log, metric, answer or error, in good times and in bad', async () => {
    const coin = { kind: 'coin' as const, amount: 10n ** 16n }
    const [early, back] = await Promise.all([
      stage.send('ethereum', [coin, coin, { kind: 'token', amount: 10n ** 18n }]),
      stage.send('bsc', [coin]),
    ])
    await stage.outcomes([...early, ...back])

    // Bad times: the nodes quote their own URLs in errors, then the remote signer is away.
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

    signer.mode = 'well'
    for (const node of Object.values(nodes)) node.failing = false
    const ends = await stage.outcomes(late, 180_000)
    expect(ends.map(({ state }) => state)).toEqual(['delivered', 'delivered'])
    for (const path of [
      '/',
      '/openapi.json',
      '/ready',
      '/metrics',
      '/v1/transfers',
      ...late.map(({ id }) => `/v1/transfers/${encodeURIComponent(id)}`),
    ]) {
      await ask(path)
    }
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

    const leaks = [...collected].flatMap(([where, text]) =>
      secrets()
        .filter((secret) => text.toLowerCase().includes(secret))
        .map((secret) => `${where}: ${secret}`),
    )
    expect(leaks).toEqual([])
    // The search is no empty one: it reads what is inside payloads, and what errors say of nodes and signers.
    const all = [...collected.values()].join('\n')
    expect(collected.get(`temporal workflow show ${late[0]?.id}`)).toContain('"callHash"')
    expect(all).toContain('SIGNER_OFFLINE')
    expect(collected.get('traces')).toContain('rpc eth_sendRawTransaction')
    expect(collected.get('the admin port: /metrics')).toContain('temporal_')
    for (const url of [signer.url, ...Object.values(nodes).map((node) => node.url)]) expect(all).toContain(new URL(url).host)
    expect(Object.values(nodes).every(({ served }) => served > 0)).toBe(true)
  })
})

/** Every text in a JSON value. */
function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(strings) : []
}

/** What a text is in base64, as payloads are shown raw; itself if it is none. */
function decoded(text: string): string {
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0 ? Buffer.from(text, 'base64').toString() : text
}
