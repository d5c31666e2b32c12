import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { adviceOf, knownChains, networks } from '../../cli/init/networks.ts'
import { parseConfig } from '../../config/load/load.ts'
import { type CliSetting, runCli } from './run-cli.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const cwd = temporaryFolder()

const init = (line: string, more: CliSetting = {}) => runCli(['init', ...line.split(' ').filter(Boolean)], { cwd, ...more })
const text = (file: string) => readFile(join(cwd, file), 'utf8')
const filledIn = (config: string) => config.replaceAll("'0x…'", `'0x${'1'.repeat(40)}'`)

describe('portage init', () => {
  test('portage init writes a config that is valid once its variables and placeholders are filled in', async () => {
    const made = await init('--network mainnet --chain ethereum --chain BSC --chain 23 --out mine.yaml --json')
    expect(made).toMatchObject({ code: 0, err: '' })
    expect(made.json()).toMatchObject({
      network: 'mainnet',
      chains: ['ethereum', 'bsc', 'arbitrum'],
      variables: {
        ETHEREUM_RPC_URL: 'URL of a JSON-RPC node of ethereum (EIP-155 chain id 1)',
        BSC_RPC_URL: expect.any(String),
        ARBITRUM_RPC_URL: expect.any(String),
        PORTAGE_KEYSTORE_PASSWORD: expect.any(String),
      },
      next: expect.arrayContaining([
        ...['portage keystore new --out keystore/bsc-1.json', 'portage --config mine.yaml setup temporal'],
        'portage --config mine.yaml doctor',
      ]),
    })
    const before = await runCli(['config', 'check', '--config', 'mine.yaml'], { cwd })
    const problems = before.err.split('\n').filter((line) => line.startsWith('  - '))
    // Each of three chains still needs a variable and an address.
    expect(problems).toHaveLength(6)
    for (const problem of problems) expect(problem).toMatch(/_RPC_URL, which is not set|lanes\[0\]\.address must be an address/)

    await writeFile(join(cwd, 'mine.yaml'), filledIn(await text('mine.yaml')))
    const env = Object.fromEntries(Object.keys(made.json()['variables'] as object).map((name) => [name, 'https://node.example']))
    const after = await runCli(['config', 'check', '--config', 'mine.yaml', '--json'], { cwd, env })
    expect(after.json()).toMatchObject({
      valid: true,
      chains: ['ethereum', 'bsc', 'arbitrum'],
      lanes: 3,
      bridges: ['wormhole-token-bridge'],
      warnings: ['ethereum', 'bsc', 'arbitrum'].map(
        (name) => expect.stringContaining(`chain ${name}: one node answers all reads`) as string,
      ),
    })
  })

  test('portage init takes addresses, ids and finality from its tables', async () => {
    await init('--chain bsc --out tables.yaml')
    const { chains } = parseConfig(filledIn(await text('tables.yaml')), { BSC_RPC_URL: 'https://node.example' }, 'tables.yaml')
    expect(chains['bsc']).toMatchObject({
      networkId: 56,
      wormholeChainId: 4,
      nodes: [{ name: 'main', url: 'https://node.example' }],
      finality: { kind: 'depth', blocks: 50 },
      contracts: { core: '0x98f3c9e6e3face36baad05fe09d375ef1464288b', tokenBridge: '0xb6f6d86a8f9879a9c87f643768d9efc38c1da6e7' },
    })
  })

  test('portage init never overwrites a file without --force', async () => {
    await writeFile(join(cwd, 'portage.yaml'), 'mine')
    const refused = await init('--chain bsc')
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('The file exists already: --force overwrites it') })
    expect(await text('portage.yaml')).toBe('mine')
    expect((await init('--chain bsc --force')).code).toBe(0)
    expect(await text('portage.yaml')).toContain('networkId: 56')
    const nowhere = await init('--chain bsc --out no/such/folder.yaml')
    expect(nowhere).toMatchObject({ code: 1, err: expect.stringContaining('The file cannot be written.') })
  })

  test('portage init refuses an unknown chain, a chain of another kind, and no chain', async () => {
    expect(await init('--chain atlantis')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/no EVM chain of mainnet with a token bridge is called "atlantis"; there are: ethereum, bsc/),
    })
    expect(await init('--chain solana')).toMatchObject({ code: 2, err: expect.stringContaining('is called "solana"') })
    expect(await init('')).toMatchObject({
      code: 2,
      err: expect.stringContaining("'--chain <name>' not specified, and there is no terminal"),
    })
    expect((await init('--network devnet --chain bsc')).code).toBe(2)
  })

  test('portage init asks on a terminal, and asks again after a wrong answer', async () => {
    const asked = await init('--out asked.yaml', { terminal: true, stdin: 'moon\ntestnet\natlantis\nsepolia, base-sepolia\n' })
    expect(asked).toMatchObject({ code: 0, out: expect.stringContaining('asked.yaml: testnet, sepolia, base-sepolia') })
    expect(asked.out).toContain('one node per chain: nothing outvotes it')
    for (const said of ['Network (mainnet or testnet) [mainnet]:', 'There are mainnet and testnet.', 'is called "atlantis"'])
      expect(asked.err).toContain(said)
    expect(await text('asked.yaml')).toContain('networkId: 11155111')
    expect(await init('--out gone.yaml', { terminal: true, stdin: 'mainnet\n' })).toMatchObject({
      code: 2,
      err: expect.stringContaining('no answer'),
    })
  })

  test.each(networks)('every chain of %s that can be served makes a valid config, all in one', async (network) => {
    const names = knownChains(network).map(({ name }) => name)
    const made = await init(`--network ${network} ${names.map((name) => `--chain ${name}`).join(' ')} --out ${network}.yaml --json`)
    const env = Object.fromEntries(Object.keys(made.json()['variables'] as object).map((name) => [name, 'https://node.example']))
    const config = parseConfig(filledIn(await text(`${network}.yaml`)), env, network)
    expect(Object.keys(config.chains)).toEqual(names)
    // `everySource` must include the network's chains without a node.
    expect(config.bridges['wormhole-token-bridge']?.everySource).toBe(network)
  })
})

test('the finality of init is that of docs/operate/chains.md', async () => {
  const document = await readFile(fileURLToPath(new URL('../../docs/operate/chains.md', import.meta.url)), 'utf8')
  const rows = [...document.split('## Finality')[1]!.matchAll(/^\| (.+ \(\d.+) \| (.+?) \| (.+) \|$/gm)]
  const advised = rows.flatMap(([, names = '', configure = '']) =>
    [...names.matchAll(/\((\d+)\)/g)].map(([, id = '']) => [id, configure] as const),
  )
  expect(advised.length).toBeGreaterThan(6)
  for (const [id, configure] of advised) {
    const { finality, feeModel } = adviceOf(knownChains('mainnet').find(({ networkId }) => String(networkId) === id)!)
    expect(configure, id).toContain(finality.kind === 'depth' ? `\`depth\` ${finality.blocks}` : `\`${finality.kind}\``)
    if (feeModel) expect(configure, id).toContain(`\`feeModel: ${feeModel}\``)
    else expect(configure, id).not.toContain('feeModel')
  }
})
