import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { orderStream } from '../../streams/orders.ts'
import { startScannedSetting, type ScannedSetting } from './setting.ts'

describe('a config that changes while its stream runs', () => {
  let setting: ScannedSetting
  beforeAll(async () => {
    setting = await startScannedSetting()
  })
  afterAll(() => setting?.stop())

  it('is taken over by the next process; an order outranks it until it is taken back', async () => {
    const stream = await setting.stream({ maxOpen: 2 })
    const order = (maxOpen?: number) =>
      orderStream(setting.ledgers.temporal.client, stream.source.config.stream, {
        ...{ kind: 'setMaxOpen', order: { by: 'night-shift', reason: 'a test' } },
        ...(maxOpen !== undefined && { maxOpen }),
      })
    await stream.initiate(1n, 2n, 3n, 4n, 5n)
    const first = stream.agent()
    await stream.shows(({ open, full }) => open === 2 && full, 'a full stream')
    await first.stop()

    const second = stream.agent({ maxOpen: 4, start: 1 })
    const more = await stream.shows(({ open }) => open === 4, 'as many as the new config lets in')
    expect(more.maxOpen).toEqual({ most: 4, configured: 4 })
    await stream.shows(
      () => stream.lines.some(({ level, message }) => level === 'warn' && message.includes('acts only where')),
      'the start',
    )
    await second.stop()

    expect((await order(3)).view.maxOpen).toMatchObject({ most: 3, configured: 4, ordered: { by: 'night-shift' } })
    const third = stream.agent({ maxOpen: 9 })
    const kept = await stream.shows(({ maxOpen }) => maxOpen?.configured === 9, 'what the third config says')
    expect(kept).toMatchObject({ full: true, open: 4, maxOpen: { most: 3, ordered: { by: 'night-shift' } } })
    expect((await order()).view.maxOpen).toEqual({ most: 9, configured: 9 })
    await stream.shows(({ open }) => open === 5, 'all that there is')
    await third.stop()
  })
})
