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
  test('a running stream takes a changed maxOpen once', async () => {
    const { streamClient, requests, lines, look } = running(config())
    const looks = look({ config: config({ maxOpen: 50 }) })
    for (let times = 0; times < 3; times++) expect(await looks()).toBe(false)
    expect(requests).toEqual([[{ kind: 'configured', stream, origin: '1/0xaa', maxOpen: 50 }]])
    expect(streamClient.view).toMatchObject({ maxOpen: { most: 50, configured: 50 } })
    expect(lines).toMatchObject([{ level: 'info', message: 'maxOpen is as configured', before: 10, maxOpen: 50 }])
  })

  test('a running stream gets no request if the config has not changed', async () => {
    const { requests, lines, look } = running(config())
    await look({ config: config() })()
    expect([requests, lines]).toEqual([[], []])
  })

  test('an order outranks a changed maxOpen, and the log says so', async () => {
    const { streamClient, lines, look } = running(config())
    await streamClient.apply([{ kind: 'setMaxOpen', maxOpen: 3, by: 'night-shift' }])
    await look({ config: config({ maxOpen: 50 }) })()
    expect(streamClient.view).toMatchObject({ maxOpen: { most: 3, configured: 50, ordered: { by: 'night-shift' } } })
    expect(lines).toMatchObject([{ level: 'info', maxOpen: 3, configured: 50, by: 'night-shift' }])
  })

  test('a restored stream gets the config again', async () => {
    const { streamClient, requests, look } = running(config())
    const before = streamClient.now
    const looks = look({ config: config({ maxOpen: 50 }) })
    await looks()
    streamClient.now = before
    streamClient.era += 1
    await looks()
    expect([requests.length, streamClient.view?.maxOpen?.most]).toEqual([2, 50])
  })

  test('a running stream gets its new name and origin after its chain was renamed or got a node', async () => {
    const { streamClient, requests, look } = running(config())
    const renamed = config({ stream: 'native-bridge:other:b', origin: '2/0xbb' })
    const looks = look({ config: renamed })
    await looks()
    await looks()
    expect(requests.length).toBe(1)
    expect(streamClient.now?.config).toEqual(renamed)
  })

  test('reporting the config does not create a stream', async () => {
    const { streamClient, requests, look } = running(config())
    streamClient.now = undefined
    await look({ config: config({ maxOpen: 50 }) })()
    expect(requests).toEqual([])
  })

  test('a start height that is too late is logged once', async () => {
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

describe('keys that apply only when a stream begins', () => {
  const began = { config: config() }

  test('a higher start block needs no remedy', () => {
    expect(ignoredChanges(began, { config: config({ start: 200 }) })).toMatchObject([
      { field: 'startBlock', remedy: expect.stringMatching(/^Nothing/) },
    ])
  })

  test('the first number of an emitter is compared only if the config has one', () => {
    const emitter = { config: { stream: 'w:a:e', origin: '1/0xaa', first: '500', maxOpen: 10 } }
    const wanted = { stream: 'w:a:e', origin: '1/0xaa', first: '0', maxOpen: 10 }
    expect(ignoredChanges(emitter, { config: wanted, begins: {} })).toEqual([])
    expect(ignoredChanges(emitter, { config: { ...wanted, first: '500' }, begins: { first: '500' } })).toEqual([])
    expect(ignoredChanges(emitter, { config: { ...wanted, first: '7' }, begins: { first: '7' } })).toMatchObject([
      { field: 'first', began: '500', configured: '7', remedy: expect.stringContaining('portage transfer submit') },
    ])
  })
})
