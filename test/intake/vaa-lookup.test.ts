import { describe, expect, test } from 'vitest'
import { startGuardianApi } from '../../lab/devnet/wormhole/guardian-api.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { until } from '../../lab/devnet/until.ts'
import { startWormholescan } from '../../lab/devnet/wormhole/wormholescan.ts'
import { parseVaa } from '../../domain/vaa.ts'
import { retryAfterMs } from '../../runtime/http/retry-after.ts'
import { createVaaLookup } from '../../intake/submit/vaa-lookup.ts'
import { signVaa } from '../helpers/vaa.ts'
import { cleanUp } from '../helpers/clean-up.ts'
import { listenHttp } from '../helpers/servers.ts'

const emitter = 'ab'.repeat(32)
const place = (sequence: number) => ({ chain: 2, emitter, sequence: String(sequence) })
const bytes = (sequence: string) => signVaa({ emitter, sequence: BigInt(sequence) }).bytes

async function guardian(has: (sequence: string) => boolean, held: readonly string[] = []) {
  const find = (_: number, __: string, sequence: string) => (has(sequence) ? bytes(sequence) : undefined)
  const api = await startGuardianApi(find, 0, (_, __, sequence) => held.includes(sequence))
  cleanUp(api.stop)
  return api
}

async function wormholescan(has: (sequence: string) => boolean, held: readonly string[] = []) {
  const find = (_: number, __: string, sequence: string) => (has(sequence) ? bytes(sequence) : undefined)
  const api = await startWormholescan(find, 0, (_, __, sequence) => held.includes(sequence))
  cleanUp(api.stop)
  return api
}

const quick = { timeoutMs: 3_000, pause: { firstMs: 200, mostMs: 400 } }

describe('where a missing VAA is looked for', () => {
  test('an answer longer than a VAA is not read, and the next server is asked', async () => {
    const url = await listenHttp((_, response) => {
      const more = () => {
        while (response.write(Buffer.alloc(65_536, 0x20)));
      }
      response.on('drain', more)
      more()
    })
    const good = await guardian(() => true)
    const lookup = createVaaLookup({ guardianApis: [url, good.url], wormholescanApis: [], timeoutMs: 60_000 })
    expect(await lookup.find(place(1))).toMatchObject({ kind: 'found', origin: good.url })
  }, 60_000)

  test('a VAA that is too long counts as absent, and delays no other VAA', async () => {
    const url = await listenHttp((_, response) => void response.end(JSON.stringify({ vaaBytes: 'A'.repeat(2_000_000) })))
    const lookup = createVaaLookup({ guardianApis: [url], wormholescanApis: [], timeoutMs: 60_000 })
    const why = `${url}: an answer that is too long`
    for (let times = 0; times < 2; times++) expect(await lookup.find(place(1))).toEqual({ kind: 'absent', why })
  }, 60_000)

  test('each guardian is asked, then Wormholescan, each with its own format', async () => {
    const [first, second, scan] = await Promise.all([
      guardian((n) => n === '1'),
      guardian((n) => n === '2'),
      wormholescan((n) => n === '3'),
    ])
    const lookup = createVaaLookup({ guardianApis: [first.url, `${second.url}/`], wormholescanApis: [scan.url] })
    const found = await Promise.all([1, 2, 3, 4].map((sequence) => lookup.find(place(sequence))))
    expect(found.map((one) => (one.kind === 'found' ? `vaa ${parseVaa(one.vaa).sequence} of ${one.origin}` : one.kind))).toEqual([
      `vaa 1 of ${first.url}`,
      `vaa 2 of ${second.url}`,
      `vaa 3 of ${scan.url}`,
      'absent',
    ])
    expect(scan.requests).toEqual([`/api/v1/vaas/2/${emitter}/3`, `/api/v1/vaas/2/${emitter}/4`])
  })

  test('the next server is asked after a copy of another message', async () => {
    const first = await startGuardianApi(() => bytes('77'))
    cleanUp(first.stop)
    const scan = await wormholescan((n) => n === '1')
    const lookup = createVaaLookup({ guardianApis: [first.url], wormholescanApis: [scan.url] })
    expect(await lookup.find(place(1))).toMatchObject({ kind: 'found', origin: scan.url })
    const why = `${first.url}: another message; ${scan.url}: not found`
    expect(await lookup.find(place(2))).toEqual({ kind: 'absent', why })
    expect(await lookup.find(place(1), 2)).toEqual({ kind: 'absent', why: '' })
  })

  test('a VAA is absent if no server is configured', async () => {
    const lookup = createVaaLookup({ guardianApis: [], wormholescanApis: [] })
    expect(await lookup.find(place(1))).toEqual({ kind: 'absent', why: '' })
    expect(await lookup.held(place(1))).toBeUndefined()
  })

  test('a VAA is unknown only while no server can be asked, and only origins are shown', async () => {
    const scan = await wormholescan(() => true)
    const down = `http://127.0.0.1:${await freePort()}`
    scan.trouble({ silent: true })
    const lookup = createVaaLookup({ guardianApis: [`${down}/v2/topsecret`], wormholescanApis: [`${scan.url}/?key=topsecret`], ...quick })
    const unknown = await lookup.find(place(1))
    expect(unknown).toMatchObject({ kind: 'unknown', why: `${down}: no connection; ${scan.url}: no answer in time` })
    expect(await lookup.held(place(1))).toBeUndefined()
    const well = await guardian(() => false)
    const mixed = createVaaLookup({ guardianApis: [down, well.url], wormholescanApis: [], ...quick })
    expect(await mixed.find(place(1))).toEqual({
      kind: 'absent',
      againInMs: expect.any(Number),
      why: `${down}: no connection; ${well.url}: not found`,
    })
  })

  test('the lookup goes on after an outage, and after junk answers', async () => {
    const api = await guardian(() => true)
    const lookup = createVaaLookup({ guardianApis: [api.url], wormholescanApis: [], ...quick })
    for (const status of [500, 502, 503, 429, 403]) {
      api.trouble({ refuse: { status } })
      expect(await lookup.find(place(1))).toMatchObject({ kind: 'unknown' })
      api.trouble()
      await until(async () => (await lookup.find(place(1))).kind === 'found', { timeoutMs: 40_000, what: `the end of ${status}` })
    }
  })

  test.each(['seconds', 'date'] as const)(
    'a lookup keeps to the limits that a server names in %s, for all messages that it wants',
    async (retryAfter) => {
      const api = await guardian(() => true)
      api.trouble({ limit: { requests: 3, perMs: 1_200, retryAfter } })
      const lookup = createVaaLookup({ guardianApis: [api.url], wormholescanApis: [], parallel: 1, ...quick, timeoutMs: 5_000 })
      const missing = new Set(Array.from({ length: 7 }, (_, index) => index))
      let refused = 0
      await until(
        async () => {
          for (const sequence of missing) {
            const found = await lookup.find(place(sequence))
            if (found.kind === 'found') missing.delete(sequence)
            else refused++
          }
          return missing.size === 0
        },
        { timeoutMs: 50_000, everyMs: 20, what: 'all of them' },
      )
      expect(api.early).toBe(0)
      // Seven successful requests, and at most one refused request at the end of each window.
      expect(api.requests.length).toBeLessThanOrEqual(7 + 3)
      expect(refused).toBeGreaterThan(api.requests.length - 7)
    },
    60_000,
  )

  test('the Governors of all guardians and of Wormholescan are asked', async () => {
    const [first, second, scan] = await Promise.all([guardian(() => false), guardian(() => false, ['2']), wormholescan(() => false, ['3'])])
    const lookup = createVaaLookup({ guardianApis: [first.url, second.url], wormholescanApis: [scan.url], ...quick })
    expect(await Promise.all([1, 2, 3].map((sequence) => lookup.held(place(sequence))))).toEqual([false, true, true])
  })
})

describe('Retry-After', () => {
  const now = Date.parse('2026-11-21T12:00:00Z')
  test.each([
    ['0', 0],
    ['120', 120_000],
    ['Sat, 21 Nov 2026 12:00:30 GMT', 30_000],
    ['Sat, 21 Nov 2026 11:00:00 GMT', 0],
    ['Saturday, 21-Nov-26 12:00:30 GMT', 30_000],
    ['99999999', 3_600_000],
    ['Wed, 21 Nov 2035 12:00:00 GMT', 3_600_000],
  ])('Retry-After %s is %d ms', (value, expected) => expect(retryAfterMs(value, now)).toBe(expected))
  test.each([null, '', 'soon', '-1', '1.5', '2026-11-21T12:00:30Z', '1e3'])('Retry-After %s is ignored', (value) => {
    expect(retryAfterMs(value, now)).toBeUndefined()
  })
})
