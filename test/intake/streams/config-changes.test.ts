import { describe, expect, test } from 'vitest'
import type { StreamConfig } from '../../../domain/stream/stream.ts'
import { type ConfiguredSource, createConfigReporter, ignoredChanges } from '../../../intake/streams/config-changes.ts'
import { fakeStream } from './fake-context.ts'
import { recordingLogger } from '../../helpers/recording-logger.ts'

const stream = 'native-bridge:a:b'
const config = (more: Partial<StreamConfig> = {}): StreamConfig => ({
  stream,
  origin: '1/0xaa',
  first: '1',
  start: 100,
  maxOpen: 10,
  ...more,
})

/** A stream that runs, by the reducer itself, and the log of who tells it. */
function running(begun: StreamConfig) {
  const { streamClient, requests } = fakeStream(begun)
  const { logger, lines } = recordingLogger()
  return {
    streamClient,
    requests,
    lines,
    look: (wanted: ConfiguredSource) => createConfigReporter(wanted, streamClient, logger),
  }
}

describe('a stream that runs already', () => {
  test('takes over a changed maxOpen, once', async () => {
    const { streamClient, requests, lines, look } = running(config())
    const looks = look({ config: config({ maxOpen: 50 }) })
    for (let times = 0; times < 3; times++) expect(await looks()).toBe(false)
    expect(requests).toEqual([[{ kind: 'configured', stream, origin: '1/0xaa', maxOpen: 50 }]])
    expect(streamClient.view).toMatchObject({ maxOpen: { most: 50, configured: 50 } })
    expect(lines).toMatchObject([{ level: 'info', message: 'maxOpen is as configured', before: 10, maxOpen: 50 }])
  })

  test('gets no request for what it knows', async () => {
    const { requests, lines, look } = running(config())
    await look({ config: config() })()
    expect([requests, lines]).toEqual([[], []])
  })

  test('keeps an order, and says so', async () => {
    const { streamClient, lines, look } = running(config())
    await streamClient.apply([{ kind: 'setMaxOpen', maxOpen: 3, by: 'night-shift' }])
    await look({ config: config({ maxOpen: 50 }) })()
    expect(streamClient.view).toMatchObject({ maxOpen: { most: 3, configured: 50, ordered: { by: 'night-shift' } } })
    expect(lines).toMatchObject([{ level: 'info', maxOpen: 3, configured: 50, by: 'night-shift' }])
  })

  test('gets the request again when it has gone back: a copy of Temporal has the old config', async () => {
    const { streamClient, requests, look } = running(config())
    const before = streamClient.now
    const looks = look({ config: config({ maxOpen: 50 }) })
    await looks()
    streamClient.now = before
    streamClient.era += 1
    await looks()
    expect([requests.length, streamClient.view?.maxOpen?.most]).toEqual([2, 50])
  })

  test('gets the new name and origin when its chain is renamed or gets a node', async () => {
    const { streamClient, requests, look } = running(config())
    const renamed = config({ stream: 'native-bridge:other:b', origin: '2/0xbb' })
    const looks = look({ config: renamed })
    await looks()
    await looks()
    expect(requests.length).toBe(1)
    expect(streamClient.now?.config).toEqual(renamed)
  })

  test('is not brought into being by it', async () => {
    const { streamClient, requests, look } = running(config())
    streamClient.now = undefined
    await look({ config: config({ maxOpen: 50 }) })()
    expect(requests).toEqual([])
  })

  test('a start height that comes too late is one line, however often it is looked', async () => {
    const { streamClient, lines, look } = running(config())
    const looks = look({ config: config({ start: 40 }) })
    await looks()
    streamClient.era += 1
    await looks()
    expect(lines).toMatchObject([
      {
        level: 'warn',
        began: 100,
        configured: 40,
        remedy: expect.stringContaining(`portage stream backfill ${stream} --from 40 --to 99`),
      },
    ])
  })
})

describe('what acts only where a stream begins', () => {
  const began = { config: config() }

  test('a higher start needs nothing', () => {
    expect(ignoredChanges(began, { config: config({ start: 200 }) })).toMatchObject([
      { field: 'startBlock', remedy: expect.stringMatching(/^Nothing/) },
    ])
  })

  test('the first number of an emitter counts only where the config names one', () => {
    const emitter = { config: { stream: 'w:a:e', origin: '1/0xaa', first: '500', maxOpen: 10 } }
    const wanted = { stream: 'w:a:e', origin: '1/0xaa', first: '0', maxOpen: 10 }
    expect(ignoredChanges(emitter, { config: wanted, begins: {} })).toEqual([])
    expect(ignoredChanges(emitter, { config: { ...wanted, first: '500' }, begins: { first: '500' } })).toEqual([])
    expect(ignoredChanges(emitter, { config: { ...wanted, first: '7' }, begins: { first: '7' } })).toMatchObject([
      { field: 'first', began: '500', configured: '7', remedy: expect.stringContaining('portage transfer submit') },
    ])
  })
})
