import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Wallet } from 'ethers'
import { describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { accepts } from '../../lab/devnet/ports.ts'
import { runCli } from './run-cli.ts'
import { temporaryFolder } from '../helpers/folders.ts'

/** DEVNET: the first key of the well-known test mnemonic. */
const devnetKey = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const devnetAddress = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'

const cwd = temporaryFolder()
let deadConfigs = 0

async function writeDeadConfig(): Promise<string> {
  const port = await closedPort()
  const lane = { address: devnetAddress, signer: { kind: 'environment', variable: 'DEVNET_KEY' } }
  const config = {
    temporal: { address: `127.0.0.1:${port}` },
    chains: {
      ethereum: {
        family: 'evm',
        networkId: 1337,
        wormholeChainId: 2,
        nodes: [{ url: `http://127.0.0.1:${port}/secret-path` }],
        blockTimeMs: 1000,
        contracts: { core: devnetAddress, tokenBridge: devnetAddress },
        lanes: [lane],
      },
    },
    bridges: {
      'wormhole-token-bridge': {
        spies: [{ address: `127.0.0.1:${port}` }],
        guardianApis: [`http://127.0.0.1:${port}/secret-path`],
        wormholescanApis: [`http://127.0.0.1:${port}/secret-path`],
      },
    },
    api: { port },
  }
  // Tests run at the same time and must not read half-written files, so each config gets a file of its own.
  const file = join(cwd, `dead-${++deadConfigs}.yaml`)
  await writeFile(file, stringify(config))
  return file
}

/** A port that nothing opens: below the ports of tests (lab/devnet/ports.ts) and of operating systems. */
async function closedPort(): Promise<number> {
  for (let port = 9_100; port < 9_900; port++) if (!(await accepts(port))) return port
  throw new Error('Something listens on every port from 9100 to 9899')
}

describe('config check', () => {
  test('config check prints the contents of a valid config, for people and for scripts', async () => {
    const file = await writeDeadConfig()
    const people = await runCli(['config', 'check', '--config', file], {
      env: { TEMPORAL_API_KEY: 'secret-key', TEMPORAL_NAMESPACE: 'production' },
    })
    const [values, warning] = people.out.split('\n! ')
    expect(warning).toMatch(/^chain ethereum: one node answers all reads/)
    expect(values?.trimEnd().split('\n')).toEqual([
      'config              valid',
      'chains              ethereum',
      'lanes               1',
      'bridges             wormhole-token-bridge',
      expect.stringMatching(/^temporal address    127\.0\.0\.1:\d+ \(the config file\)$/),
      'temporal namespace  production (TEMPORAL_NAMESPACE)',
      'temporal tls        on (TEMPORAL_API_KEY)',
      'temporal apiKey     from TEMPORAL_API_KEY',
    ])
    const scripts = await runCli(['config', 'check', '--json'], { env: { PORTAGE_CONFIG: file } })
    const from = 'the config file'
    const temporal = [
      { name: 'address', value: expect.stringMatching(/^127\.0\.0\.1:\d+$/), from },
      { name: 'namespace', value: 'default', from },
    ]
    expect(scripts.json()).toEqual({
      valid: true,
      file,
      chains: ['ethereum'],
      lanes: 1,
      bridges: ['wormhole-token-bridge'],
      temporal,
      warnings: [expect.stringMatching(/^chain ethereum: one node answers all reads/)],
    })
    expect([people.code, scripts.code]).toEqual([0, 0])
  })

  test('config check warns of a native route that delivers any amount, unless the config allows this', async () => {
    const contract = `0x${'cd'.repeat(20)}`
    const check = async (amount: object) => {
      const file = await writeDeadConfig()
      const config = parse(await readFile(file, 'utf8')) as { chains: Record<string, object>; bridges: Record<string, object> }
      const route = { source: 'ethereum', target: 'bsc', sourceContract: contract, targetContract: contract, ...amount }
      config.chains['bsc'] = { ...config.chains['ethereum'], networkId: 56, wormholeChainId: 4 }
      config.bridges = { 'native-bridge': { routes: [route] } }
      await writeFile(file, stringify(config))
      return runCli(['config', 'check', '--config', file])
    }
    const [silent, all] = await Promise.all([check({}), check({ minimumAmount: '0' })])
    expect([silent.code, silent.out, all.code]).toEqual([0, expect.stringContaining('! route ethereum → bsc: any amount is delivered'), 0])
    expect(all.out).not.toContain('! route')
  })

  test('config check warns of nodes without a name', async () => {
    const file = await writeDeadConfig()
    const config = parse(await readFile(file, 'utf8')) as { chains: { ethereum: { nodes: object[] } } }
    const [node] = config.chains.ethereum.nodes
    config.chains.ethereum.nodes = [{ ...node, name: 'main' }, node!]
    await writeFile(file, stringify(config))
    const { code, out } = await runCli(['config', 'check', '--config', file])
    expect([code, out]).toEqual([0, expect.stringContaining('! chain ethereum: nodes without a name: node-2')])
  })

  test('config check warns of a chain whose requests pay only for their gas', async () => {
    const address = (digit: string) => `0x${digit.repeat(40)}`
    const file = await writeDeadConfig()
    const config = parse(await readFile(file, 'utf8')) as { chains: Record<string, object>; bridges: Record<string, object> }
    config.chains['bsc'] = { ...config.chains['ethereum'], networkId: 56, wormholeChainId: 4 }
    const own = { contract: address('c'), payee: address('d'), price: '3000' }
    config.bridges['executor'] = { quoter: { address: address('a') }, chains: { ethereum: { ...own, baseFee: '1' }, bsc: own } }
    await writeFile(file, stringify(config))
    const { code, out } = await runCli(['config', 'check', '--config', file])
    expect([code, out]).toEqual([0, expect.stringContaining('! bridge executor: requests on bsc pay only for their gas')])
    expect(out).not.toContain('requests on ethereum')
  })

  test('config check prints code, problems and remedy, with --json on stdout, and a stack only on request', async () => {
    await writeFile(join(cwd, 'portage.yaml'), 'bridges: {}\n')
    const people = await runCli(['config', 'check'], { cwd })
    expect(people.err.replace(cwd, '.')).toMatchInlineSnapshot(`
      "CONFIG_INVALID: The config has problems. ./portage.yaml:
        - chains is missing. Add it. The networks, by names of your choice. All processes use the same names.
       (problems=1)
      → Correct what the message names.
      "
    `)
    expect([people.code, people.out]).toEqual([1, ''])
    const scripts = await runCli(['--json', 'config', 'check'], { cwd })
    expect(scripts.json()).toMatchObject({
      error: { code: 'CONFIG_INVALID', remedy: 'Correct what the message names.', facts: { problems: 1 } },
    })
    const verbose = await runCli(['config', 'check', '--verbose'], { cwd })
    expect(verbose.err).toContain('RelayerError: The config has problems.')
  })
})

/** Opening a keystore is slow by design. On a busy machine, connections also take a long time to fail. */
const slow = { timeout: 120_000 }

describe('keystore', slow, () => {
  const env = { PORTAGE_KEYSTORE_PASSWORD: 'correct horse' }

  test('keystore import writes an encrypted file that only its owner may read, and never the key', async () => {
    const { code, out, err } = await runCli(['keystore', 'import', '--out', 'a.json', '--json'], { cwd, env, stdin: `0x${devnetKey}\n` })
    expect([code, err]).toEqual([0, ''])
    expect(JSON.parse(out)).toEqual({ address: devnetAddress, file: join(cwd, 'a.json') })
    const text = await readFile(join(cwd, 'a.json'), 'utf8')
    expect(text + out).not.toContain(devnetKey)
    expect((await stat(join(cwd, 'a.json'))).mode & 0o777).toBe(0o600)
    expect((await Wallet.fromEncryptedJson(text, 'correct horse')).privateKey).toBe(`0x${devnetKey}`)

    const again = await runCli(['keystore', 'import', '--out', 'a.json'], { cwd, env, stdin: devnetKey })
    expect(again.err).toContain('The file exists already; a key is never overwritten.')
    expect(again.code).toBe(1)
  })

  test('keystore new makes a key with the password of a file, and makes the folder for it', async () => {
    await writeFile(join(cwd, 'password'), 'from a file\nsecond line')
    const { code, json } = await runCli(['keystore', 'new', '--out', 'keystore/of/b.json', '--password-file', 'password', '--json'], {
      cwd,
    })
    expect(code).toBe(0)
    const wallet = await Wallet.fromEncryptedJson(await readFile(join(cwd, 'keystore/of/b.json'), 'utf8'), 'from a file')
    expect(json()).toMatchObject({ address: wallet.address.toLowerCase() })
  })

  test.each([
    ['', env, 'stdin must hold exactly the 64 hex digits of a private key.'],
    ['0'.repeat(64), env, 'stdin must hold exactly the 64 hex digits of a private key.'],
    [`${devnetKey}ff`, env, 'stdin must hold exactly the 64 hex digits of a private key.'],
    [devnetKey, {}, 'The password is missing: set PORTAGE_KEYSTORE_PASSWORD, or give --password-file.'],
  ])('import refuses %j', async (stdin, environment, why) => {
    const { code, err, out } = await runCli(['keystore', 'import', '--out', 'c.json', '--verbose'], { cwd, env: environment, stdin })
    expect(err).toContain(why)
    if (stdin) expect(err + out).not.toContain(stdin)
    expect(code).toBe(1)
  })
})

/** Each test waits until a connection fails. As the tests are concurrent, these waits overlap. */
describe.concurrent('where nothing answers', slow, () => {
  test('the doctor names every part with its remedy, and no secret', async ({ expect }) => {
    const file = await writeDeadConfig()
    const { code, out, json } = await runCli(['doctor', '--json', '--config', file])
    const { healthy, checks } = json() as { healthy: boolean; checks: { area: string; name: string; status: string; remedy?: string }[] }
    expect([code, healthy]).toEqual([1, false])
    const failed = checks.filter(({ status }) => status === 'fail')
    expect(failed.map(({ area, name }) => `${area}: ${name.replace(/:\d+$/, '')}`)).toEqual([
      'temporal: server',
      'chain ethereum: node node-1 (all) http://127.0.0.1',
      `chain ethereum: key of ${devnetAddress}`,
      'bridge wormhole-token-bridge: spy 127.0.0.1',
      'bridge wormhole-token-bridge: guardian API http://127.0.0.1',
      'bridge wormhole-token-bridge: Wormholescan http://127.0.0.1',
    ])
    expect(failed.filter(({ remedy }) => !remedy || remedy.includes('doctor'))).toEqual([])
    expect(out).not.toContain('secret-path')
  })

  test('without an API, transfer submit says that it needs one', async ({ expect }) => {
    const { code, err } = await runCli(['transfer', 'submit', 'AQ==', '--config', await writeDeadConfig()])
    expect(err).toContain('API_UNAVAILABLE: The REST API of Portage cannot be reached.')
    expect(err).toContain('→ Start the API (run `portage run --role api`), or name its URL with `--api`.')
    expect(code).toBe(1)
  })

  test('without Temporal, transfer list says that it needs Temporal', async ({ expect }) => {
    const { code, err } = await runCli(['transfer', 'list', '--config', await writeDeadConfig()])
    expect(err).toContain('TEMPORAL_UNAVAILABLE: The Temporal server cannot be reached.')
    expect(code).toBe(1)
  })
})
