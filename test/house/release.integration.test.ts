import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { bearer, makeToken } from '../../lab/devnet/access.ts'
import { startAnvil } from '../../lab/devnet/chain/anvil.ts'
import { startChild } from '../../lab/devnet/child.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { run, type RunResult } from '../../lab/devnet/run.ts'
import { until } from '../../lab/devnet/until.ts'
import { npm, pack } from '../../scripts/release/stage.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { cleanUp } from '../helpers/clean-up.ts'
import { startTestTemporal } from '../helpers/temporal.ts'

// Without a registry, npm's own retries would take minutes.
const registry = await run('npm', ['view', '@temporalio/core-bridge@1.24.0', 'version', '--fetch-retries=0'], { timeoutMs: 60_000 })
if (registry.code !== 0) process.stderr.write('NOT RUN: test/house/release.integration.test.ts (it needs a registry of npm)\n')

/** An operator uses the tarball without the repository. */
describe.skipIf(registry.code !== 0)('the tarball of a release', () => {
  const folder = temporaryFolder()
  let tarball: string
  let inside: readonly string[]
  const npx = (...args: string[]): Promise<RunResult> =>
    run('npx', ['--prefix', folder, '--no-install', 'portage', '--config', join(folder, 'portage.yaml'), ...args])

  beforeAll(async () => {
    ;({ tarball } = await pack(join(folder, 'out')))
    const listed = await run('tar', ['-tzf', tarball])
    inside = listed.stdout.trim().split('\n')
    await writeFile(join(folder, 'package.json'), '{ "private": true }\n')
    await npm(['install', tarball, '--omit=dev', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'], folder)
    // The registry delivers a native package of many megabytes while other suites use the machine.
  }, 600_000)

  test('the tarball has compiled code, and neither sources nor tests', () => {
    const allowed =
      /^package\/(bin\/(portage\.js|compiled\.js|import\.cjs)|bridges\/packages\/(thread\.mjs|template\/[\w.]+\.(mjs|md))|dist\/[\w-]+\.(cjs|js|json|map|wasm|cjs\.map)|dist\/page\/(index\.html|icon\.svg|page\.(js|css))|dist\/types\/[\w/-]+\.d\.ts|intake\/spy\/protos\/.*\.proto|node_modules\/(secp256k1|node-gyp-build)\/.*|config\/portage\.(example\.yaml|schema\.json)|package\.json|[A-Z-]+(\.md|\.txt)?)$/
    expect(inside.filter((name) => !allowed.test(name))).toEqual([])
    for (const name of ['workflows.js', 'workflows-traced.js', 'otlp.cjs', 'page/index.html', 'page/page.js', 'page/page.css'])
      expect(inside).toContain(`package/dist/${name}`)
    expect(inside.filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))).toEqual([])
    expect(inside).toContain('package/dist/types/bridges/packages/author.d.ts')
  })

  test('the tarball names no folder of the machine that made it', async () => {
    const bundle = await readFile(join(folder, 'node_modules/portage/dist/workflows.js'), 'utf8')
    const [, inline = ''] = /sourceMappingURL=data:[^,]*;base64,([\w+/=]+)/.exec(bundle) ?? []
    const maps = [Buffer.from(inline, 'base64').toString(), await readFile(join(folder, 'node_modules/portage/dist/main.cjs.map'), 'utf8')]
    const sources = maps.flatMap((map) => (JSON.parse(map) as { sources: string[] }).sources)
    expect(sources).toEqual(expect.arrayContaining(['cli/main.ts', 'workflows/index.ts']))
    // Modules that webpack and esbuild generate have no source file.
    expect(sources.filter((source) => !/^(\w[\w.-]*\/|webpack|package:|tracing:|aws:)/.test(source))).toEqual([])
  })

  test('the tarball installs few packages, none of which needs its install script', async () => {
    const { packages } = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { hasInstallScript?: true }>
    }
    const places = Object.keys(packages).filter((place) => place !== '')
    expect(places.length).toBeLessThan(50)
    // The install script of protobufjs 7 only compares versions, so protobufjs also works without it.
    expect(places.filter((place) => packages[place]?.hasInstallScript && !place.endsWith('/protobufjs'))).toEqual([])
    expect(places.filter((place) => /elliptic|webpack|esbuild|@swc/.test(place))).toEqual([])
  })

  test('the installed command shows its help and its version', async () => {
    const { version } = JSON.parse(await readFile(join(folder, 'node_modules/portage/package.json'), 'utf8')) as { version: string }
    expect(await npx('--version')).toMatchObject({ code: 0, stdout: `${version}\n` })
    expect((await npx('--help')).stdout).toContain('Usage: portage')
  })

  test('the installed command makes a plug-in, and adds it to a config', async () => {
    const chain = (networkId: number, wormholeChainId: number) => ({
      ...{ family: 'evm', networkId, wormholeChainId, blockTimeMs: 500, nodes: [{ url: 'http://127.0.0.1:1' }] },
      contracts: { core: `0x${'aa'.repeat(20)}`, tokenBridge: `0x${'bb'.repeat(20)}` },
    })
    const chains = { ethereum: chain(1, 2), bsc: chain(56, 4) }
    await writeFile(join(folder, 'plugins.yaml'), stringify({ temporal: {}, chains, bridges: { 'wormhole-token-bridge': {} } }))
    const settings = { source: 'ethereum', sender: `0x${'cc'.repeat(20)}`, target: 'bsc', contract: `0x${'dd'.repeat(20)}` }
    await writeFile(join(folder, 'settings.json'), JSON.stringify(settings))
    const plugin = join(folder, 'mine/plugin.mjs')
    expect(await npx('plugin', 'new', join(folder, 'mine'))).toMatchObject({ code: 0 })
    const config = ['--config', join(folder, 'plugins.yaml')]
    const added = await npx(...config, 'plugin', 'add', plugin, '--free', '--settings', join(folder, 'settings.json'))
    expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining('executeVAAv1(bytes) with a signed message') as string })
    expect(await npx(...config, 'plugin', 'test', plugin)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('SETUP_INCOMPLETE') as string,
    })
    // The tests of a plug-in's author import the plug-in in the same way.
    expect(
      await run(process.execPath, ['-e', `import(${JSON.stringify(plugin)}).then((one) => console.log(one.default.name))`]),
    ).toMatchObject({
      code: 0,
      stdout: 'mine\n',
    })
  })

  test('the installed doctor checks a network, and run serves', async () => {
    const [temporal, anvil, port] = await Promise.all([
      startTestTemporal(),
      startAnvil({ chainId: 31_401, blockTimeSeconds: 0.5 }),
      freePort(),
    ])
    cleanUp(anvil.stop)
    const chain = { family: 'evm', networkId: 31_401, blockTimeMs: 500, lanes: [], nodes: [{ url: anvil.url }] }
    const config = {
      temporal: { address: temporal.address, namespace: 'default', useEnvironment: false },
      ...{ chains: { ethereum: chain }, bridges: {}, api: { port }, dataFolder: join(folder, 'data') },
    }
    await writeFile(join(folder, 'portage.yaml'), stringify(config))
    const bin = join(folder, 'node_modules/portage/bin/portage.js')
    const portage = await startChild(process.execPath, [bin, '--config', join(folder, 'portage.yaml'), 'run', '--role', 'all'])
    cleanUp(() => portage.stop(15_000))
    await until(() => fetch(`http://127.0.0.1:${port}/ready`).then(({ ok }) => ok), {
      ...{ timeoutMs: 120_000, what: 'the installed Portage to be ready' },
      giveUp: () => portage.ended && `${portage.ended}: ${portage.tail()}`,
    })
    const page = await fetch(`http://127.0.0.1:${port}/`)
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('page/page.js')])
    // A warning would show that the tarball lacks the native build of secp256k1.
    expect(portage.tail()).not.toContain('secp256k1')
    const doctor = await npx('doctor', '--json')
    expect(doctor.stderr).toBe('')
    const checks = JSON.parse(doctor.stdout) as unknown
    expect(JSON.stringify(checks)).toContain('ethereum')
    // An order to the settings workflow succeeds only if the tarball has the bundle of the workflows and the thread
    // that runs it.
    const { authorization } = bearer(await makeToken({ dataFolder: config.dataFolder, temporal: { namespace: 'default' } }))
    const order = await fetch(`http://127.0.0.1:${port}/v1/settings`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json', authorization } },
      body: JSON.stringify({ reason: 'a first order', orders: [{ kind: 'halt', scope: {} }] }),
    })
    expect([order.status, await order.text()]).toMatchObject([200, expect.stringContaining('a first order')])
  })
})
