import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { createBridges } from '../../bridges/registry.ts'
import { createPluginMessages } from '../../bridges/kit/plugin-bridge.ts'
import type { Plugin } from '../../bridges/kit/plugin.ts'
import { planOf } from '../../bridges/packages/endpoints.ts'
import { loadPlugins } from '../../bridges/packages/load.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { until } from '../../lab/devnet/until.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { signVaa } from '../helpers/vaa.ts'
import { context, coreChain, emitter, entry, names, options, source, write } from './plugin-source.ts'

const folder = temporaryFolder()
const closing: AbortController[] = []
afterAll(() => closing.forEach((one) => one.abort()))
const limits = { startMs: 20_000, answerMs: 1_000, nextMs: 500, restMs: 50 }
const aDay = 86_400_000

async function loadAll(text: string, own: typeof limits): ReturnType<typeof loadPlugins> {
  const plugins = { mine: entry(await write(folder, text)) }
  const one = new AbortController()
  closing.push(one)
  return loadPlugins(plugins, context, { closing: one.signal, limits: own })
}

async function load(text: string, own: Partial<typeof limits> = {}): Promise<Plugin<unknown> | RelayerError> {
  const loaded = await loadAll(text, { ...limits, ...own })
  return loaded.get('mine')!
}

async function made(parts: Readonly<Record<string, string>>, own?: Partial<typeof limits>): Promise<Plugin<unknown>> {
  const one = await load(source(parts), own)
  if (one instanceof RelayerError) throw one
  return one
}

const bytesOf = (payload: string) => signVaa({ emitterChain: 2, emitter, sequence: 7n, payload }, { guardians: 1 }).bytes
const read = (plugin: Plugin<unknown>, payload = '0x0102') => createPluginMessages(plugin, names).readBytes(bytesOf(payload)).message
const failure = (text: string) =>
  expect.objectContaining({ code: 'PLUGIN_FAILED', message: expect.stringContaining(`mine: ${text}`) as string })
const target = { now: 0, read: async () => [1n] }

describe('A plug-in cannot hold up the process:', () => {
  const loop = '() => { for (;;) {} }'
  const late = 'did not answer within 1000 ms'

  test.each([
    ['decode', { decode: loop }],
    ['parties', { parties: loop }],
    ['delivered', { delivered: loop }],
    ['stages.deliver.call', { stages: `{ deliver: { call: ${loop}, revertsOnceDone: true } }` }],
    ['stages.deliver.effect', { stages: `{ deliver: { call: () => 1, effect: ${loop}, revertsOnceDone: true } }` }],
  ])('a function that never returns is ended with the name of the plug-in: %s', async (part, parts) => {
    const plugin = await made(parts, { restMs: aDay })
    expect(() => read(plugin)).toThrow(failure(`${part} ${late}`))
    const start = performance.now()
    expect(() => read(plugin)).toThrow(failure(`it rests until it is started again, because ${part} ${late}`))
    expect(performance.now() - start).toBeLessThan(500)
  })

  test('a next that loops after a wait is ended', async () => {
    const plugin = await made({ next: 'async (_, { read }) => { await read({}); for (;;) {} }' }, { restMs: aDay })
    const message = read(plugin)
    await expect(plugin.next?.(message, target)).rejects.toThrow(failure('next did not answer within 500 ms'))
    expect(() => read(plugin)).toThrow(failure(`it rests until it is started again, because it ${late}`))
  })

  test('a next that waits for ever does not end the thread, so other messages go on', async () => {
    const plugin = await made({ next: 'async () => new Promise(() => {})' }, { restMs: aDay })
    const message = read(plugin)
    await expect(plugin.next?.(message, target)).rejects.toThrow(failure('next did not answer within 500 ms'))
    expect(read(plugin)).toMatchObject({ sequence: '7' })
  })

  test.each([
    ['exits', `process.exit(1)`, /decode did not answer within|it ended itself/],
    ['throws in a timer', `setTimeout(() => { throw new Error('boom') }); return true`, /an error outside of its functions ended it: boom/],
    [
      'takes more memory than it may',
      `setTimeout(() => { const all = []; for (;;) all.push(new Array(10_000).fill(1)) }); return true`,
      /Worker terminated due to reaching memory limit|it did not answer within/,
    ],
    ['leaves a rejection', `void Promise.reject(new Error('boom')); return true`, /an error outside of its functions ended it: boom/],
  ])('the process goes on if a plug-in %s', async (_, body, why) => {
    const plugin = await made({ decode: `() => { ${body} }` }, { restMs: aDay })
    const reason = () => {
      try {
        return read(plugin).sequence
      } catch (error) {
        return (error as Error).message
      }
    }
    await expect.poll(reason).toContain('mine: it rests until it is started again')
    expect(reason()).toMatch(why)
  })

  test('a function that failed is run again, so that a message is not lost when its cause is gone', async () => {
    const call = `(() => { let runs = 0; return ({ bytes }) => {
      if (++runs < 3) throw new Error('not yet')
      return { contract, function: 'take(bytes)', args: [bytes] }
    } })()`
    const plugin = await made({ stages: `{ deliver: { call: ${call}, revertsOnceDone: true } }` })
    const message = read(plugin)
    expect(() => planOf(plugin, message)).toThrow(failure('stages.deliver.call threw: not yet'))
    expect(planOf(plugin, message)).toMatchObject({ function: 'take(bytes)' })
  })

  test('after a pause, the thread restarts, and delivers messages on which the plug-in does not hang', async () => {
    const plugin = await made({ decode: `({ payload }) => { while (payload[1] === 4); return {} }` })
    expect(() => read(plugin, '0x0104')).toThrow(failure(`decode ${late}`))
    await expect.poll(() => sequenceOf(plugin)).toBe('7')
    const start = performance.now()
    expect(() => read(plugin, '0x0104')).toThrow(failure(`it hung on this message, and gets it again after 1 h: decode ${late}`))
    expect(performance.now() - start).toBeLessThan(500)
    expect(sequenceOf(plugin)).toBe('7')
  })

  test('a message on which the plug-in hangs again is tried after an hour, then a day, then each week', async () => {
    const plugin = await made({ decode: `({ payload }) => { while (payload[1] === 4); return {} }` }, { answerMs: 500 })
    const hours = [0, 0.9, 1.1, 2.2, 24, 25.2, 26.3, 60, 192, 193.3, 300, 361, 361.4]
    const hangs: number[] = []
    const now = vi.spyOn(performance, 'now')
    for (const hour of hours) {
      now.mockImplementation(() => process.uptime() * 1_000 + hour * 3_600_000)
      await expect.poll(() => sequenceOf(plugin), { timeout: 10_000 }).toBe('7')
      try {
        read(plugin, '0x0104')
      } catch (error) {
        if (String(error).includes('mine: decode did not answer')) hangs.push(hour)
      }
    }
    now.mockRestore()
    expect(hangs).toEqual([0, 1.1, 25.2, 193.3, 361.4])
  })

  test('a thread that ends during its restart is not used, even if the process is busy', async () => {
    const end = Date.now() + 3_000
    const parties = `(Date.now() < ${end} && setTimeout(() => process.exit(0)), () => ({ recipient: contract, token: 'mine' }))`
    const plugin = await made({ parties }, { restMs: 20 })
    const busy = setInterval(() => {
      const until = performance.now() + 30
      while (performance.now() < until);
    })
    await until(() => Date.now() >= end, { timeoutMs: 10_000, everyMs: 1, what: 'the threads to end no more' })
    clearInterval(busy)
    const reads = () => {
      try {
        return read(plugin, '0x0103')
      } catch {
        return undefined
      }
    }
    expect(await until(reads, { timeoutMs: 10_000, everyMs: 20, what: 'the plug-in to be back' })).toMatchObject({ sequence: '7' })
  })

  test('a message on which `next` loops is paused, and messages that waited meanwhile are not', async () => {
    const next = `async ({ payload }, { read }) => { await read({}); while (payload[1] === 4); return { stage: 'deliver' } }`
    const plugin = await made({ next })
    const [good, bad] = [read(plugin), read(plugin, '0x0104')]
    const waits = plugin.next?.(good, { now: 0, read: () => new Promise(() => {}) })
    await expect(Promise.all([plugin.next?.(bad, target), waits])).rejects.toThrow(failure('next did not answer'))
    await expect.poll(() => sequenceOf(plugin)).toBe('7')
    await expect(plugin.next?.(bad, target)).rejects.toThrow(failure('it hung on this message, and gets it again after 1 h'))
    expect(await plugin.next?.(good, target)).toEqual({ stage: 'deliver' })
  })

  test('slow functions of a plug-in block for a second, then only for a share of the time', async () => {
    const decode = `(() => { let runs = 0; return ({ payload }) => {
      const end = Date.now() + payload[1] * 100
      while (Date.now() < end);
      return { run: ++runs }
    } })()`
    const delivered = `({ digest, content }) => [{ contract, view: 'isDone(bytes32)', args: [digest], returns: 'bool', is: [content.run > 2] }]`
    const plugin = await made({ decode, delivered }, { restMs: 10_000 })
    const start = performance.now()
    const reads = Array.from({ length: 20 }, () => sequenceOf(plugin, '0x0105'))
    expect(performance.now() - start).toBeLessThan(5_000)
    expect(reads.filter(Boolean).length).toBeLessThan(6)
    expect(() => read(plugin)).toThrow(failure('its functions took more than 1000 ms of the last 10 s'))
    const shown = () => {
      try {
        return plugin.delivered(read(plugin))
      } catch {
        return []
      }
    }
    await expect.poll(shown).toMatchObject([{ is: [true] }])
  })

  test('if `next` computes for seconds, other messages wait, and do not stop it', async () => {
    const next = `async () => { const end = Date.now() + 2_500; while (Date.now() < end); return { stage: 'deliver' } }`
    const plugin = await made({ next }, { nextMs: 20_000 })
    const message = read(plugin)
    const stage = plugin.next?.(message, target)
    await expect.poll(() => sequenceOf(plugin)).toBeUndefined()
    expect(await stage).toEqual({ stage: 'deliver' })
    expect(sequenceOf(plugin, '0x0103')).toBe('7')
    expect(sequenceOf(plugin)).toBe('7')
  })
})

test.each([
  ['view lists', { delivered: `() => new Array(20).fill('a'.repeat(10_000)).map((text) => ({ contract, view: text }))` }],
  ['calls', { stages: `{ deliver: { call: () => 'a'.repeat(200_000), revertsOnceDone: true } }` }],
])('2,048 messages with %s of 200 kB take less than 50 MB', async (_, parts) => {
  const plugin = await made(parts, { answerMs: 20_000 })
  const messages = createPluginMessages(plugin, names)
  const before = await usedMemory()
  for (let sequence = 0n; sequence < 2_048n; sequence++)
    messages.readBytes(signVaa({ emitterChain: 2, emitter, sequence, payload: '0x0102' }, { signers: [] }).bytes)
  expect((await usedMemory()) - before).toBeLessThan(50_000_000)
  expect(messages.readBytes(bytesOf('0x0102')).message).toMatchObject({ sequence: '7' })
})

async function usedMemory(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  // Node collects the garbage of one turn of the event loop only in the next turn.
  for (let turn = 0; turn < 3; turn++) {
    await setImmediate()
    collect()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

test('a plug-in that a busy machine loads too slowly is loaded later, and then gets its messages', async () => {
  const own = { ...limits, startMs: 1 }
  const loaded = await loadAll(source(), own)
  expect(loaded.get('mine')).toMatchObject({ code: 'PLUGIN_INVALID', message: expect.stringContaining('within 1 ms') as string })
  const plugins = options({ mine: entry(await write(folder, source())) })
  const chains = new Map([['bsc', coreChain('bsc') as never]])
  const bridge = createBridges(plugins, chains, ['bsc'], { loaded }).get('mine')!
  expect(bridge.endpoints.get('bsc')?.plan).toBeUndefined()
  expect(bridge.content(bytesOf('0x0102'))).toEqual({})
  own.startMs = 20_000
  await expect.poll(() => bridge.endpoints.get('bsc')?.plan).toBeDefined()
  await bridge.endpoints.get('bsc')?.demandSigned?.(bridge.decode(bytesOf('0x0102')))
  expect(bridge.content(bytesOf('0x0102'))).toMatchObject({ token: 'mine' })
  expect(bridge.endpoints.get('bsc')?.plan?.(bridge.decode(bytesOf('0x0102')))).toMatchObject({ function: 'take(bytes)' })
})

function sequenceOf(plugin: Plugin<unknown>, payload?: string): string | undefined {
  try {
    return read(plugin, payload).sequence
  } catch {
    return undefined
  }
}

describe('A plug-in that does not start is refused by name, if it', () => {
  test.each([
    ['loops at its import', `for (;;) {}`],
    ['waits at its import', `await new Promise(() => {})`],
    ['exits at its import', `process.exit(0)`],
    ['loops in its settings', source().replace('z.strictObject({ contract: z.string() })', '{ parse: () => { for (;;) {} } }')],
    [
      'loops in create',
      source()
        .replace('({ contract }) => ({', '({ contract }) => { for (;;) {} return {')
        .replace(/\}\) \}\)$/, '} } })'),
    ],
  ])('%s', async (_, text) => {
    expect(await load(text, { startMs: 3_000 })).toMatchObject({
      code: 'PLUGIN_INVALID',
      message: expect.stringMatching(/mine.*(within 3000 ms|ended itself)|(within 3000 ms|ended itself).*mine/s) as string,
    })
  })
})
