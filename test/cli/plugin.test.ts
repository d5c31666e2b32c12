import { appendFile, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from '../../config/load/load.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { runCli } from './run-cli.ts'

const cwd = temporaryFolder()
const file = join(cwd, 'portage.yaml')
const chain = (id: number, number: number) => `
    family: evm
    networkId: ${id}
    coin: ETH
    wormholeChainId: ${number}
    nodes: [{ url: 'http://127.0.0.1:1' }]
    finality: { kind: tag } # of the node
    blockTimeMs: 1000
    contracts: { core: 0x${'aa'.repeat(20)}, tokenBridge: 0x${'bb'.repeat(20)} }`
const config = `# Of the night shift.
temporal: { namespace: default }
chains:
  ethereum:${chain(1, 2)}
  bsc:${chain(56, 4)}
bridges:
  # No spies here.
  wormhole-token-bridge: {}
`
const settings = { source: 'ethereum', sender: `0x${'ee'.repeat(20)}`, target: 'bsc', contract: `0x${'cc'.repeat(20)}` }
const portage = (line: string) => runCli(line.split(' '), { cwd })

test('a plug-in is made, added to the config with all that its keys may sign, and listed', async () => {
  await writeFile(file, config, { mode: 0o640 })
  await writeFile(join(cwd, 'settings.json'), JSON.stringify(settings))
  expect(await portage('plugin new mine')).toMatchObject({ code: 0, err: '' })
  expect((await portage('plugin new mine')).err).toContain('exists already')
  expect((await portage('plugin new My_Plugin')).err).toContain('The folder names the plug-in: it must be 2 to 40 lower-case letters')

  expect((await portage('plugin add mine/plugin.mjs --free')).err).toContain(
    'The plug-in needs settings: name their file with --settings <file>',
  )
  await writeFile(join(cwd, 'wrong.json'), '{}')
  const { err } = await portage('plugin add mine/plugin.mjs --settings wrong.json')
  expect(err).toContain('Its settings are refused: source: Invalid input')
  expect(err).not.toMatch(/unexpected|parked/)
  const refused = await portage('plugin add mine/plugin.mjs --settings settings.json')
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('Add --free to accept that.') as string })
  expect(await readFile(file, 'utf8')).toBe(config)

  const added = await portage('plugin add mine/plugin.mjs --settings settings.json --free')
  expect(added).toMatchObject({ code: 0, err: '' })
  expect(added.out).toContain(`to bsc, ${settings.contract} executeVAAv1(bytes) with a signed message`)
  const text = await readFile(file, 'utf8')
  for (const kept of ['# Of the night shift.', '# of the node', '# No spies here.', `core: 0x${'aa'.repeat(20)}`])
    expect(text).toContain(kept)
  expect((await stat(file)).mode & 0o777).toBe(0o640)
  const { plugins } = (await loadConfig(file, {})).bridges
  expect(plugins?.['mine']).toMatchObject({
    module: join(cwd, 'mine/plugin.mjs'),
    settings,
    free: true,
    routes: [{ from: [{ source: 'ethereum', emitter: `${'0'.repeat(24)}${'ee'.repeat(20)}` }], to: 'bsc', calls: [{ proof: 'message' }] }],
  })
  expect((await portage('plugin list --json')).json()).toMatchObject({ plugins: [{ name: 'mine', file: 'as added', routes: 1 }] })
  expect((await portage('config check --json')).json()).toMatchObject({ bridges: ['wormhole-token-bridge', 'mine'] })
})

test('a changed file is listed as changed, until it is added again with the settings of the config', async () => {
  await appendFile(join(cwd, 'mine/plugin.mjs'), '// A change.\n')
  expect(await portage('plugin list')).toMatchObject({ code: 1, out: expect.stringContaining('changed') as string })
  expect(await portage('plugin add mine/plugin.mjs')).toMatchObject({ code: 0 })
  expect(await portage('plugin list')).toMatchObject({ code: 0, out: expect.stringContaining('as added') as string })
})

test('each bound of a further argument is shown in words, with the type of the argument', async () => {
  const module = join(cwd, 'mine/plugin.mjs')
  const [plain, before] = [await readFile(module, 'utf8'), await readFile(file, 'utf8')]
  const rest = `rest: [{ payload: [1, 21] }, { is: '10' }, { atMost: '99' }, { is: '$emitterChain' }]`
  await writeFile(
    module,
    plain.replace('executeVAAv1(bytes)', 'take(bytes,address,uint256,uint8,uint16)').replace(`'message' }`, `'message', ${rest} }`),
  )
  const { out } = await portage('plugin add mine/plugin.mjs')
  expect(out).toContain(
    'with a signed message, and further arguments (address: bytes 1 to 20 of the payload; uint256: 10; uint8: at most 99; uint16: emitterChain of the message)',
  )
  await writeFile(module, plain)
  await writeFile(file, before)
})

test('a plug-in whose routes lead to no chain of the config leaves the config as it is', async () => {
  const before = await readFile(file, 'utf8')
  await writeFile(join(cwd, 'settings.json'), JSON.stringify({ ...settings, target: 'base' }))
  const { code, err } = await portage('plugin add mine/plugin.mjs --settings settings.json')
  expect(code).toBe(1)
  expect(err).toContain('CONFIG_INVALID')
  expect(err).toContain('- bridges.plugins.mine.routes[0].to is not a chain of this config')
  expect(await readFile(file, 'utf8')).toBe(before)
})

test('a plug-in that would claim messages of the token bridge, if it failed, is not added', async () => {
  const before = await readFile(file, 'utf8')
  await writeFile(join(cwd, 'settings.json'), JSON.stringify({ ...settings, sender: `0x${'bb'.repeat(20)}` }))
  const { code, err } = await portage('plugin add mine/plugin.mjs --settings settings.json')
  expect(code).toBe(1)
  expect(err).toContain('bridges.plugins.mine.routes[0] fits messages that fit a route of wormhole-token-bridge, too')
  expect(await readFile(file, 'utf8')).toBe(before)
  await writeFile(file, before.replaceAll('ee'.repeat(20), 'bb'.repeat(20)))
  expect((await portage('config check')).err).toContain('fits messages that fit a route of wormhole-token-bridge')
  await writeFile(file, before)
})

test('portage plugin test names the file that is missing', async () => {
  expect((await portage('plugin test mine/nope.mjs')).err).toContain('The file of the plug-in is missing. (file=mine/nope.mjs)')
  const { err } = await portage('plugin test mine/plugin.mjs --with mine/nope.mjs')
  expect(err).toContain('The file with deploy and send is missing. Write it, or name it with --with. (file=mine/nope.mjs)')
})

test('a process with keys refuses to run plug-ins', async () => {
  await writeFile(
    file,
    (await readFile(file, 'utf8')).replaceAll(
      'blockTimeMs: 1000',
      `blockTimeMs: 1000\n    lanes: [{ address: 0x${'dd'.repeat(20)}, signer: { kind: environment, variable: KEY } }]`,
    ),
  )
  const { code, err } = await portage('run --role all')
  expect(code).toBe(1)
  expect(err).toContain('INPUT_INVALID')
  expect(err).toContain('portage run --role keyless')
})
