import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, describe, test } from 'vitest'
import { createBridges } from '../../bridges/registry.ts'
import { createPackageEndpoint, createRouteEndpoint, planOf } from '../../bridges/packages/endpoints.ts'
import { guarded } from '../../bridges/packages/guard.ts'
import { type ConfiguredPlugin, createPlugin, loadPlugins, readPlugin } from '../../bridges/packages/load.ts'
import { createPluginMessages } from '../../bridges/kit/plugin-bridge.ts'
import type { Message, Plugin } from '../../bridges/kit/plugin.ts'
import { pluginsSchema } from '../../config/schema/plugin-schema.ts'
import { configSchema } from '../../config/schema/schema.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { signVaa } from '../helpers/vaa.ts'

const folder = temporaryFolder()
const contract = `0x${'aa'.repeat(20)}`
const emitter = 'e'.repeat(64)
const context = { chains: new Map(Object.entries({ ethereum: 2, bsc: 4 })) }
const names = new Map([
  [2, 'ethereum'],
  [4, 'bsc'],
])
const routes: ConfiguredPlugin['routes'] = [
  {
    from: [{ source: 'ethereum', emitter }],
    where: { '0': '01' },
    to: 'bsc',
    calls: [{ contract, function: 'take(bytes)', proof: 'message' }],
  },
]
const settings = { contract }

/** `parts` replaces fields of the object that the plug-in creates. */
const source = (parts: Readonly<Record<string, string>> = {}, head = `name: 'mine', version: '1', kit: 1`) => {
  const all = {
    routes: `[{ from: [{ source: 'ethereum', emitter: '${emitter}' }], where: { 0: '01' }, to: 'bsc', calls: [{ contract, function: 'take(bytes)', proof: 'message' }] }]`,
    decode: `({ payload }) => payload[1] === 9 ? undefined : { size: payload.length }`,
    stages: `{ deliver: { call: ({ bytes }) => ({ contract, function: 'take(bytes)', args: [bytes] }), revertsOnceDone: true } }`,
    delivered: `({ digest }) => [{ contract, view: 'isDone(bytes32)', args: [digest], returns: 'bool', is: [true] }]`,
    parties: `() => ({ recipient: contract, token: 'mine' })`,
    ...parts,
  }
  const body = Object.entries(all).map(([name, text]) => `${name}: ${text}`)
  return `import { plugin, z } from 'portage/plugin'
export default plugin({ ${head}, settings: z.strictObject({ contract: z.string() }), create: ({ contract }) => ({ ${body.join(',\n')} }) })`
}

let count = 0
async function write(text: string, ending = 'mjs'): Promise<{ module: string; sha256: string }> {
  const module = join(folder, `plugin-${++count}.${ending}`)
  await writeFile(module, text)
  return { module, sha256: createHash('sha256').update(text).digest('hex') }
}

const entry = (file: { module: string; sha256: string }, fields: Partial<ConfiguredPlugin> = {}) =>
  pluginsSchema.parse({ mine: { ...file, settings, routes, ...fields } })['mine'] as ConfiguredPlugin
const load = async (plugins: Record<string, ConfiguredPlugin>) => Object.fromEntries(await loadPlugins(plugins, context))
const made = async (parts: Readonly<Record<string, string>>) =>
  createPlugin(await readPlugin((await write(source(parts))).module), settings, context).plugin
const bytesOf = (payload: string) => signVaa({ emitterChain: 2, emitter, sequence: 7n, payload }, { guardians: 1 }).bytes
const read = <C>(plugin: Plugin<C>, payload = '0x0102') => createPluginMessages(plugin, names).readBytes(bytesOf(payload)).message
const failure = (text: string) =>
  expect.objectContaining({ code: 'PLUGIN_FAILED', message: expect.stringContaining(`mine: ${text}`) as string })

describe('A plug-in is loaded', () => {
  test('a plug-in is loaded from the bytes that the config pins, with the settings and routes of the config', async () => {
    const { mine } = await load({ mine: entry(await write(source())) })
    expect(mine).toMatchObject({ name: 'mine', routes })
  })

  test('a plug-in is loaded from a copy, so that the file cannot change between the check and the import', async () => {
    const { module } = await write(source({}, `name: 'mine', version: import.meta.url, kit: 1`))
    const { version } = (await readPlugin(module)).definition
    expect(version).toMatch(/^file:.*portage-plugin-/)
    expect(version).not.toContain(folder)
  })

  test('a plug-in with a changed file is refused by name, and other plug-ins are loaded', async () => {
    const [changed, intact] = [await write(source()), await write(source({}, `name: 'other', version: '1', kit: 1`))]
    const loaded = await load({ mine: entry({ ...changed, sha256: 'ab'.repeat(32) }), other: entry(intact) })
    expect(loaded['mine']).toMatchObject({ code: 'PLUGIN_CHANGED', message: expect.stringContaining('mine: Its SHA-256 is') as string })
    expect(loaded['other']).not.toBeInstanceOf(RelayerError)
  })

  test('a plug-in with other routes than the config is refused, because keys sign by the routes', async () => {
    const other = [{ ...routes[0]!, to: 'ethereum' }]
    const { mine } = await load({ mine: entry(await write(source()), { routes: other }) })
    expect(mine).toMatchObject({ code: 'PLUGIN_CHANGED', facts: { plugin: 'mine' } })
  })

  test.each([
    ['is missing', undefined, 'The file cannot be read'],
    ['is no JavaScript', 'export default {', 'cannot be imported'],
    ['imports another file', `import './more.mjs'\n${source()}`, 'cannot be imported'],
    ['imports another package', `import 'ethers'\n${source()}`, 'cannot be imported'],
    ['exports nothing', 'export const plugin = 1', 'default export is not plugin'],
    ['is for another kit', source({}, `name: 'mine', version: '1', kit: 2`), 'kit: must be 1'],
    ['has the name of a part of Portage', source({}, `name: 'ntt', version: '1', kit: 1`), 'is the name of a part of Portage'],
    ['has another name than in the config', source({}, `name: 'yours', version: '1', kit: 1`), 'Its own name is yours'],
    ['throws at its import', 'throw new Error("no luck")', 'no luck'],
    ['has no delivered', source({ delivered: 'undefined' }), 'delivered is no function'],
    ['has no stages', source({ stages: '{}' }), 'it has no stages'],
    [
      'has routes with a contract that is no address',
      source({ routes: `[{ from: [], to: 'bsc', calls: [{ contract: '0x12' }] }]` }),
      'contract',
    ],
    [
      'lets keys sign a function of several arguments',
      source({
        routes: source()
          .match(/\[\{ from.*\]/)![0]
          .replace('take(bytes)', 'take(bytes,uint256)'),
      }),
      'function',
    ],
  ])('a plug-in is refused if its file %s', async (_, text, problem) => {
    const file = text === undefined ? { module: join(folder, 'none.mjs'), sha256: 'ab'.repeat(32) } : await write(text)
    const { mine } = await load({ mine: entry(file) })
    expect(mine).toMatchObject({
      code: 'PLUGIN_INVALID',
      message: expect.stringMatching(new RegExp(`mine.*${problem}|${problem}.*mine`, 's')) as string,
    })
  })

  test('a plug-in is refused with settings that its schema refuses', async () => {
    const { mine } = await load({ mine: entry(await write(source()), { settings: { contract, more: 1 } }) })
    expect(mine).toMatchObject({ code: 'PLUGIN_INVALID', message: expect.stringContaining('Its settings are refused') as string })
  })
})

describe('Each answer of a plug-in is checked, and errors have its name:', () => {
  const call = (answer: string) => ({ stages: `{ deliver: { call: ({ bytes }) => (${answer}), revertsOnceDone: true } }` })
  test.each([
    ['a call that throws', call(`(() => { throw new Error('oh') })()`), 'stages.deliver.call threw: oh'],
    [
      'a call of another function',
      call(`{ contract, function: 'steal(bytes)', args: [bytes] }`),
      'stages.deliver.call returned a call that no route',
    ],
    ['a call with arguments of other types', call(`{ contract, function: 'take(bytes)', args: [{}] }`), 'stages.deliver.call threw'],
    ['no call', call('undefined'), 'stages.deliver.call threw'],
    ['a promise', call('Promise.resolve()'), 'stages.deliver.call returned a promise'],
    ['no views', { delivered: '() => []' }, 'delivered returned no list of 1 to 20 views'],
    [
      'a view with an impossible answer',
      { delivered: `() => [{ contract, view: 'a()', args: [], returns: 'uint8', is: [300] }]` },
      'delivered threw',
    ],
    ['a recipient that is no address', { parties: `() => ({ recipient: 'me', token: 'mine' })` }, 'parties returned a recipient'],
  ])('a wrong answer of a plug-in is refused with its name: %s', async (_, parts, problem) => {
    const plugin = await made(parts)
    expect(() => planOf(plugin, read(plugin))).toThrow(failure(problem))
  })

  test('a decoder that throws', async () => {
    const plugin = await made({ decode: `() => { throw new TypeError('bad') }` })
    expect(() => read(plugin)).toThrow(failure('decode threw: bad'))
  })

  const next = (answer: () => Promise<unknown>) => {
    const never = () => Promise.reject(new Error('unused'))
    const plugin: Plugin<unknown> = {
      name: 'mine',
      routes,
      decode: () => ({}),
      stages: { deliver: { call: ({ bytes }) => ({ contract, function: 'take(bytes)', args: [bytes] }), revertsOnceDone: true } },
      next: answer as never,
      delivered: () => [],
      parties: () => ({ recipient: contract, token: 'mine' }),
    }
    return guarded(plugin, 50).next?.({} as Message<unknown>, { now: 0, read: never })
  }

  test.each([
    ['hangs', () => new Promise<never>(() => {}), 'next did not answer within 50 ms'],
    ['throws', () => Promise.reject(new Error('oh')), 'next threw: oh'],
    ['answers nothing', async () => undefined, 'next threw'],
    ['names a stage that is not there', async () => ({ stage: 'steal' }), 'next returned a stage that it does not have'],
    ['waits until a time that is none', async () => ({ wait: 'a', opensAt: Number.NaN }), 'next returned an opensAt'],
  ])('a next that %s', async (_, answer, problem) => {
    await expect(next(answer)).rejects.toThrow(failure(problem))
  })

  test('an error of a node in next stays what it is', async () => {
    const error = new RelayerError('NODE_UNAVAILABLE')
    await expect(next(() => Promise.reject(error))).rejects.toBe(error)
  })
})

describe('A message of a plug-in', () => {
  const chain = {
    family: 'evm',
    coin: 'ETH',
    nodes: [{ url: 'http://127.0.0.1:1' }],
    finality: { kind: 'tag' },
    blockTimeMs: 1_000,
    contracts: { core: contract, tokenBridge: `0x${'bb'.repeat(20)}` },
  }
  const options = (plugins: Record<string, ConfiguredPlugin>) =>
    configSchema.parse({
      ...{ temporal: { namespace: 'default' } },
      chains: { ethereum: { ...chain, networkId: 1, wormholeChainId: 2 }, bsc: { ...chain, networkId: 56, wormholeChainId: 4 } },
      bridges: { 'wormhole-token-bridge': {}, plugins },
    })
  const bridgeOf = async (parts: Record<string, string>, isLoaded = true) => {
    const plugins = { mine: entry(await write(source(parts))) }
    const loaded = isLoaded ? await loadPlugins(plugins, context) : undefined
    const bridge = createBridges(options(plugins), new Map(), [], { loaded }).get('mine')
    if (!bridge) throw new Error('no bridge')
    return bridge
  }

  test('a message belongs to a plug-in if its decoder says so, and to nobody if not', async () => {
    const bridge = await bridgeOf({})
    expect(bridge.decode(bytesOf('0x0102'))).toMatchObject({ bridge: 'mine', sourceChain: 'ethereum', targetChain: 'bsc', sequence: '7' })
    expect(bridge.content(bytesOf('0x0102'))).toEqual({ recipient: contract, token: 'mine' })
    for (const payload of ['0x0109', '0x02'])
      expect(() => bridge.decode(bytesOf(payload))).toThrow(expect.objectContaining({ code: 'PAYLOAD_KIND' }))
  })

  test('a message is not lost if the decoder of its plug-in throws: the transfer starts, and waits', async () => {
    const bridge = await bridgeOf({ decode: `() => { throw new Error('bad') }` })
    expect(bridge.decode(bytesOf('0x0102'))).toMatchObject({ bridge: 'mine', targetChain: 'bsc' })
    expect(bridge.content(bytesOf('0x0102'))).toEqual({})
  })

  test('a message is known by its route in a process that does not run the plug-in, or refused it', async () => {
    for (const bridge of [await bridgeOf({}, false), await bridgeOf({ stages: '{}' })])
      expect(bridge.decode(bytesOf('0x0109'))).toMatchObject({ bridge: 'mine', targetChain: 'bsc' })
  })
})

describe('A process with a key', () => {
  const calls: string[] = []
  const endpointWith = (answer: string, failed?: RelayerError) =>
    createRouteEndpoint({
      ...{ name: 'mine', routes, chainNames: names, verify: async () => {}, failure: failed },
      chain: { name: 'bsc', call: async (to, data) => (calls.push(`${to} ${data}`), answer) },
    })

  test('a process with a key makes the call of a plan, and reads its effect, without the code of the plug-in', async () => {
    const plugin = await made({})
    const message = read(plugin)
    const plan = planOf(plugin, message)
    const transfer = { message: Buffer.from(message.bytes).toString('base64') } as never
    const planned = endpointWith(`0x${'1'.padStart(64, '0')}`).planned!(plan)
    const call = await planned.delivery(transfer).call()
    expect(call).toMatchObject({ to: contract, value: '0' })
    await expect(planned.proveCall(call)).resolves.toEqual(['ethereum'])
    expect(await planned.delivered(transfer, 'latest')).toBe(true)
    expect(calls.at(-1)).toContain(message.digest.slice(2))
    expect(await endpointWith(`0x${'0'.repeat(64)}`).planned!(plan).delivered(transfer, 'latest')).toBe(false)
  })

  test('with a key or without, a process sees the bytes of call and message for the deny-list', async () => {
    const plugin = await made({})
    const messages = createPluginMessages(plugin, names)
    const text = Buffer.from(bytesOf('0x0102')).toString('base64')
    const { chain, chainNames, verify } = { chain: { name: 'bsc', call: async () => '0x' }, chainNames: names, verify: async () => {} }
    const keyless = createPackageEndpoint(plugin, messages, { chain, chainNames, verify, clock: Date.now } as never)
    const planned = endpointWith('0x').planned!(keyless.plan!({ message: text } as never))
    const bytes = contract.slice(2) + Buffer.from(bytesOf('0x0102')).toString('hex')
    for (const one of [keyless, planned]) expect(one.delivery({ message: text } as never).parties.bytes).toBe(bytes)
  })

  test('a transfer whose plug-in makes no call waits as verified, so that a newer signed copy is kept', async () => {
    const plugin = await made({ stages: `{ deliver: { call: () => { throw new Error('oh') }, revertsOnceDone: true } }` })
    const message = Buffer.from(bytesOf('0x0102')).toString('base64')
    const options = { chain: { name: 'bsc' }, chainNames: names, verify: async () => {}, clock: Date.now } as never
    const endpoint = createPackageEndpoint(plugin, createPluginMessages(plugin, names), options)
    const { digest } = read(plugin)
    const verdict = await endpoint.validate({ message, digest, emitter, sourceId: '2', sequence: '7' } as never)
    expect(verdict).toMatchObject({ kind: 'wait', code: 'PLUGIN_FAILED' })
    expect(verdict).not.toHaveProperty('unverified')
  })

  test('a process with a key gets a plan that does not have the message', async () => {
    const plugin = await made({})
    const message = read(plugin, `0x01${'ab'.repeat(2_000)}`)
    const text = JSON.stringify(planOf(plugin, message))
    expect(text).not.toContain('abababab')
    expect(text.length).toBeLessThan(600)
  })

  test('a transfer of a refused plug-in waits with the reason', async () => {
    const failed = new RelayerError('PLUGIN_CHANGED', { detail: 'other bytes', facts: { plugin: 'mine' } })
    expect(await endpointWith('0x', failed).validate({} as never)).toMatchObject({ kind: 'wait', code: 'PLUGIN_CHANGED' })
  })
})
