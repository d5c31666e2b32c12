import { afterEach, expect, test } from 'vitest'
import { EventFeed, type FeedEvent } from '../../api/events/feed.ts'

const feeds: EventFeed[] = []
afterEach(async () => {
  for (const feed of feeds.splice(0)) await feed.close()
})

function counting(options: { most?: number; lingerMs?: number } = {}) {
  let looks = 0
  const feed = new EventFeed(async () => [{ type: 'transfer', data: { number: ++looks } }], {
    everyMs: 1,
    most: 50,
    lingerMs: 60_000,
    ...options,
  })
  feeds.push(feed)
  return { feed, looks: () => looks }
}

function listen(feed: EventFeed) {
  const events: FeedEvent[] = []
  let closed = false
  const leave = feed.subscribe(
    (event) => events.push(event),
    () => (closed = true),
  )
  return { events, leave, isClosed: () => closed }
}

test('the feed does not poll without listeners', async () => {
  const { feed, looks } = counting({ lingerMs: 0 })
  expect(looks()).toBe(0)
  const one = listen(feed)
  await expect.poll(() => one.events.length).toBeGreaterThan(2)
  one.leave()
  expect(feed.listeners).toBe(0)
  // A new listener starts a new polling loop only after the old loop has ended.
  const beginsAnew = () => {
    const before = looks()
    listen(feed).leave()
    return looks() > before
  }
  expect(beginsAnew()).toBe(false)
  await expect.poll(beginsAnew).toBe(true)
})

test('a listener that reconnects gets the missed events, or a reset if they are gone', async () => {
  const coming: number[] = []
  const look = async () => coming.splice(0).map((number) => ({ type: 'transfer', data: { number } }))
  const feed = new EventFeed(look, { everyMs: 1, most: 10, lingerMs: 60_000 })
  feeds.push(feed)
  const one = listen(feed)
  const numbers = (events: readonly FeedEvent[]) => events.flatMap(({ data }) => ('number' in data ? [data.number] : []))
  coming.push(1, 2, 3, 4)
  await expect.poll(() => numbers(one.events)).toEqual([1, 2, 3, 4])
  const { id } = one.events.find(({ data }) => 'number' in data && data.number === 2)!
  one.leave()
  // After its last listener has left, the feed continues to poll for `lingerMs`.
  coming.push(5)
  await expect.poll(() => numbers(feed.since(id)!)).toEqual([3, 4, 5])
  coming.push(6, 7, 8, 9, 10, 11, 12, 13)
  await expect.poll(() => feed.since(id)).toBeUndefined()
  expect(feed.since('of-another-process-1')).toBeUndefined()
  expect(numbers(one.events)).toEqual([1, 2, 3, 4])
})

test('closing the feed ends its listeners', async () => {
  const { feed } = counting()
  const one = listen(feed)
  await feed.close()
  expect(one.isClosed()).toBe(true)
})
