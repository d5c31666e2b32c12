import { join } from 'node:path'
import { expect, describe, test } from 'vitest'
import { planOf } from '../../bridges/packages/endpoints.ts'
import { SettingsRefused } from '../../bridges/packages/thread-run.ts'
import { createPluginMessages } from '../../bridges/kit/plugin-bridge.ts'
import type { Target } from '../../bridges/kit/plugin.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { contract, entry, names, routes, source, write } from './plugin-source.ts'
import { bytesOf, failure, pluginSetting, read } from './plugin-setting.ts'

const { folder, load, readFile, made } = pluginSetting()

describe('A plug-in is loaded', () => {
  test('a plug-in is loaded from the bytes that the config pins, with the settings and routes of the config', async () => {
    const { mine } = await load({ mine: entry(await write(folder, source())) })
    expect(mine).toMatchObject({ name: 'mine', routes })
  })

  test('a plug-in is loaded from a copy, so that the file cannot change between the check and the import', async () => {
    const { version } = (await readFile(source({}, `name: 'mine', version: import.meta.url, kit: 1`))).definition
    expect(version).toMatch(/^file:.*portage-plugin-/)
    expect(version).not.toContain(folder)
  })

  test('a plug-in with a changed file is refused by name, and other plug-ins are loaded', async () => {
    const [changed, intact] = [await write(folder, source()), await write(folder, source({}, `name: 'other', version: '1', kit: 1`))]
    const loaded = await load({ mine: entry({ ...changed, sha256: 'ab'.repeat(32) }), other: entry(intact) })
    expect(loaded['mine']).toMatchObject({ code: 'PLUGIN_CHANGED', message: expect.stringContaining('mine: Its SHA-256 is') as string })
    expect(loaded['other']).not.toBeInstanceOf(RelayerError)
  })

  test('a plug-in with other routes than the config is refused, because keys sign by the routes', async () => {
    const other = [{ ...routes[0]!, to: 'ethereum' }]
    const { mine } = await load({ mine: entry(await write(folder, source()), { routes: other }) })
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
      'lets keys sign a function whose further arguments have no bounds',
      source({
        routes: source()
          .match(/\[\{ from.*\]/)![0]
          .replace('take(bytes)', 'take(bytes,uint256)'),
      }),
      'rest',
    ],
  ])('a plug-in is refused if its file %s', async (_, text, problem) => {
    const file = text === undefined ? { module: join(folder, 'none.mjs'), sha256: 'ab'.repeat(32) } : await write(folder, text)
    const { mine } = await load({ mine: entry(file) })
    expect(mine).toMatchObject({
      code: 'PLUGIN_INVALID',
      message: expect.stringMatching(new RegExp(`mine.*${problem}|${problem}.*mine`, 's')) as string,
    })
  })

  test('a plug-in is refused with settings that its schema refuses', async () => {
    const { mine } = await load({ mine: entry(await write(folder, source()), { settings: { contract, more: 1 } }) })
    expect(mine).toMatchObject({ code: 'PLUGIN_INVALID', message: expect.stringContaining('Its settings are refused') as string })
    expect((mine as RelayerError).cause).toBeInstanceOf(SettingsRefused)
  })

  test('settings that a schema accepts are not called refused, whatever the plug-in throws afterwards', async () => {
    const throwing = source().replace(
      '({ contract }) => ({',
      `({ contract }) => ({ ...(() => { throw new Error('Its settings are refused') })(),`,
    )
    const { mine } = await load({ mine: entry(await write(folder, throwing)) })
    expect(mine).toMatchObject({ code: 'PLUGIN_INVALID', message: expect.stringContaining('It cannot be created') as string })
    expect((mine as RelayerError).cause).not.toBeInstanceOf(SettingsRefused)
  })
})

describe('Each answer of a plug-in is checked, and errors have its name:', () => {
  const notMessage = 'stages.deliver.call returned a call whose first argument is not the message'
  const call = (answer: string) => ({ stages: `{ deliver: { call: ({ bytes }) => (${answer}), revertsOnceDone: true } }` })
  const giving = (...args: string[]) => ({
    routes: source()
      .match(/\[\{ from.*\]/)![0]
      .replace("'take(bytes)', proof: 'message'", "'give(bytes,uint256,bool)', proof: 'message', rest: [{ atMost: '9' }, { is: 'true' }]"),
    ...call(`{ contract, function: 'give(bytes,uint256,bool)', args: [bytes, ${args.join(', ')}] }`),
  })
  test.each([
    ['a call that throws', call(`(() => { throw new Error('oh') })()`), 'stages.deliver.call threw: oh'],
    [
      'a call of another function',
      call(`{ contract, function: 'steal(bytes)', args: [bytes] }`),
      'stages.deliver.call returned a call that no route',
    ],
    ['a call with an argument of another type', call(`{ contract, function: 'take(bytes)', args: [{}] }`), notMessage],
    ['a call with another message', call(`{ contract, function: 'take(bytes)', args: [bytes.slice(1)] }`), notMessage],
    [
      'a call with more arguments',
      call(`{ contract, function: 'take(bytes)', args: [bytes, bytes] }`),
      'stages.deliver.call returned a call with 2 instead of 1 arguments',
    ],
    ['a call with fewer arguments', giving('9n'), 'stages.deliver.call returned a call with 2 instead of 3 arguments'],
    ['a call with an argument above its limit', giving('10n', 'true'), 'stages.deliver.call returned a call whose argument 2 is not'],
    ['a call with an argument of another value', giving('9n', 'false'), 'stages.deliver.call returned a call whose argument 3 is not'],
    ['a call with a further argument of another type', giving(`'nine'`, 'true'), 'stages.deliver.call threw'],
    ['a call with 100 kB', call(`{ contract, function: 'take(bytes)', args: [new Uint8Array(100_000)] }`), notMessage],
    [
      'a call with a word of another type',
      {
        routes: source()
          .match(/\[\{ from.*\]/)![0]
          .replace(/'take.*'message'/, `'go(uint256)', proof: { view: 'has(uint256)', returns: 'bool', isNot: [false] }`),
        ...call(`{ contract, function: 'go(uint256)', args: ['one'] }`),
      },
      'stages.deliver.call threw',
    ],
    [
      'views of 100 kB',
      { delivered: `() => [{ contract, view: 'a(bytes)', args: [new Uint8Array(100_000)], returns: 'bool', is: [true] }]` },
      'delivered returned views of more than 8192 bytes',
    ],
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

  test.each([
    ['a call with a function', call(`{ contract, function: 'take(bytes)', args: [() => bytes] }`), 'stages.deliver.call threw'],
    [
      'a call with 5 MB',
      call(`{ contract, function: 'take(bytes)', args: [new Uint8Array(5_000_000)] }`),
      'stages.deliver.call returned more than 262144 bytes',
    ],
    [
      'parties with 1 MB',
      { parties: `() => ({ recipient: contract, token: 'a'.repeat(1_000_000) })` },
      'parties returned more than 262144 bytes',
    ],
  ])('an answer that cannot leave the thread of a plug-in is refused with its name: %s', async (_, parts, problem) => {
    const plugin = await made(parts)
    expect(() => planOf(plugin, read(plugin))).toThrow(failure(problem))
  })

  test('the error of a decoder that throws names the plug-in', async () => {
    const plugin = await made({ decode: `() => { throw new TypeError('bad') }` })
    expect(() => read(plugin)).toThrow(failure('decode threw: bad'))
  })

  const next = async (body: string, read: Target['read'] = () => Promise.reject(new Error('unused'))) => {
    const plugin = await made({ next: `async (message, { now, read }) => { ${body} }` })
    const { message } = createPluginMessages(plugin, names).readBytes(bytesOf('0x0102'))
    return plugin.next?.(message, { now: 7, read })
  }
  const view = `{ contract, view: 'since(bytes32)', args: [message.digest], returns: 'uint64' }`

  test.each([
    ['throws', `throw new Error('oh')`, 'next threw: oh'],
    [
      'throws for an error of its read',
      `try { await read(${view}) } catch (error) { throw new Error('no: ' + error.message) }`,
      'next threw: no: unused',
    ],
    ['answers nothing', '', 'next threw'],
    ['answers with a function', `return { stage: () => 'deliver' }`, 'next threw'],
    ['answers with 1 MB', `return { stage: 'deliver'.padEnd(1_000_000) }`, 'next returned more than 262144 bytes'],
    ['names a stage that is not there', `return { stage: 'steal' }`, 'next returned a stage that it does not have'],
    ['waits until a time that is none', `return { wait: 'a', opensAt: NaN }`, 'next returned an opensAt that is no number'],
    ['gives its time in ms', `return { wait: 'a', opensAt: 1_800_000_000_000 }`, 'next returned an opensAt that is more than ten years'],
    ['waits until a time that is no date', `return { wait: 'a', opensAt: 9e15 }`, 'next returned an opensAt that is more than ten years'],
  ])('the error names the plug-in if its next %s', async (_, body, problem) => {
    await expect(next(body)).rejects.toThrow(failure(problem))
  })

  test('an error of a node in next stays what it is', async () => {
    const error = new RelayerError('NODE_UNAVAILABLE')
    await expect(next(`return read(${view})`, () => Promise.reject(error))).rejects.toBe(error)
  })

  test('next gets the message with its content, the time of the chain, and the answers of views', async () => {
    const asked: unknown[] = []
    const body = `const [[since]] = await read(${view}); return { wait: [message.content.size, now, since].join(' '), opensAt: 9 }`
    const answer = await next(body, async (one) => (asked.push(one), [[5n]]))
    expect(answer).toEqual({ wait: '2 7 5', opensAt: 9 })
    expect(asked).toMatchObject([{ contract, view: 'since(bytes32)', returns: 'uint64' }])
  })
})
