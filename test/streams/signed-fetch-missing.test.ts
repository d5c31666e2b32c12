import { afterEach, describe, expect, it } from 'vitest'
import { startGuardianApi } from '../../lab/devnet/wormhole/guardian-api.ts'
import { RelayerError } from '../../domain/errors.ts'
import { parseVaa } from '../../domain/vaa.ts'
import type { Submitter } from '../../intake/submitter.ts'
import { initialStream, viewStream } from '../../domain/stream/reducer.ts'
import type { StreamRequest, StreamState } from '../../domain/stream/stream.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { createSignedAuditor } from '../../streams/signed/audit.ts'
import { deliveredByTarget } from '../../streams/signed/delivered-by-target.ts'
import { fetchMissing } from '../../streams/signed/fetch-missing.ts'
import { silentLogger } from '../../observability/logger.ts'
import { createVaaLookup } from '../../streams/signed/vaa-lookup.ts'
import { signVaa } from '../helpers/vaa.ts'

const emitter = `${'00'.repeat(12)}${'33'.repeat(20)}`
const stops: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

async function server(copy: () => Uint8Array) {
  const api = await startGuardianApi(() => copy())
  stops.push(api.stop)
  return api
}

/** A submitter that takes the messages of this test, and refuses all others: too few have signed. */
function submitterFor(timestamp: number): Submitter {
  return {
    async submit(_, message) {
      if (parseVaa(message).timestamp !== timestamp) throw new RelayerError('VAA_NO_QUORUM')
      return { id: 'it', status: 'started' }
    },
  }
}

function depsFor(urls: readonly string[], submitter: Submitter): Parameters<typeof fetchMissing>[0] {
  const transfer = { bridge: 'b', sourceChain: 's', targetChain: 't', emitter, digest: '0x00' }
  return {
    source: { emitterChain: 2, emitter, delivered: async (all: readonly unknown[]) => all.map(() => false) },
    bridge: { name: 'b', decode: (vaa: Uint8Array) => ({ ...transfer, sequence: parseVaa(vaa).sequence, message: '' }) },
    submitter,
    lookup: createVaaLookup({ guardianApis: urls, wormholescanApis: [], timeoutMs: 15_000 }),
  } as unknown as Parameters<typeof fetchMissing>[0]
}

describe('the copies of a missing message', () => {
  it('come from each server once: one that has another bad one each time neither keeps it busy nor stands before the others', async () => {
    let time = 1_700_000_000
    const bad = await server(() => signVaa({ timestamp: ++time }).bytes)
    const good = await server(() => signVaa({ timestamp: 7 }).bytes)
    const found = await fetchMissing(depsFor([bad.url, good.url], submitterFor(7)), ['42'])
    expect(found.get('42')).toEqual({ kind: 'started', id: 'it', status: 'started' })
    expect([bad.requests.length, good.requests.length]).toEqual([1, 1])
  })

  it('are absent, with the reason of the last, where no server has a good one', async () => {
    let time = 1_700_000_000
    const servers = [await server(() => signVaa({ timestamp: ++time }).bytes), await server(() => signVaa({ timestamp: ++time }).bytes)]
    const urls = servers.map(({ url }) => url)
    const found = await fetchMissing(depsFor(urls, submitterFor(7)), ['42'])
    expect(found.get('42')).toEqual({ kind: 'absent', code: 'VAA_NO_QUORUM' })
    expect(servers.map(({ requests }) => requests.length)).toEqual([1, 1])
  })
})

describe('a target whose nodes are down', () => {
  const down = () => Promise.reject(new RelayerError('NODE_UNAVAILABLE'))
  /** Even numbers go to `dead`, odd ones to `alive`. */
  const apart = (deps: ReturnType<typeof depsFor>, delivered: (some: readonly Transfer[]) => Promise<readonly boolean[]>) => {
    const decode = (vaa: Uint8Array) => {
      const transfer = deps.bridge.decode(vaa)
      return { ...transfer, targetChain: BigInt(transfer.sequence) % 2n === 0n ? 'dead' : 'alive' }
    }
    return { ...deps, source: { ...deps.source, delivered }, bridge: { ...deps.bridge, decode } } as ReturnType<typeof depsFor>
  }
  const deadOnly = (some: readonly Transfer[]) =>
    some.some(({ targetChain }) => targetChain === 'dead') ? down() : Promise.resolve(some.map(({ sequence }) => sequence === '3'))
  it('keeps its own numbers for later, and nobody else from being delivered', async () => {
    const api = await startGuardianApi((_, __, sequence) => signVaa({ timestamp: 7, sequence: BigInt(sequence) }).bytes)
    stops.push(api.stop)
    const found = await fetchMissing(apart(depsFor([api.url], submitterFor(7)), deadOnly), ['1', '2', '3'])
    const sorted = [...found].sort(([a], [b]) => Number(a) - Number(b))
    expect(sorted).toEqual([
      ['1', { kind: 'started', id: 'it', status: 'started' }],
      ['2', { kind: 'unknown', againInMs: 5_000, why: expect.stringContaining('No node') }],
      ['3', { kind: 'delivered' }],
    ])
    const transfers = [2, 3, 5].map((number) => ({ sequence: String(number), targetChain: number === 2 ? 'dead' : 'alive' }) as Transfer)
    const { done, unread } = await deliveredByTarget({ delivered: (some) => deadOnly(some as readonly Transfer[]) }, transfers)
    expect([[...done], [...unread.keys()]]).toEqual([['3'], ['2']])
  })

  it('is no excuse for what is no outage', async () => {
    const transfers = [{ sequence: '2', targetChain: 'dead' } as Transfer]
    const wrong = () => Promise.reject(new RelayerError('NATIVE_NONCE_MISMATCH'))
    await expect(deliveredByTarget({ delivered: wrong }, transfers)).rejects.toMatchObject({ code: 'NATIVE_NONCE_MISMATCH' })
  })
})

describe('a source whose nodes are down', () => {
  const down = () => Promise.reject(new RelayerError('NODE_UNAVAILABLE'))
  const gap = { from: '1', to: '2', state: 'unobserved' as const, at: 1 }

  /** An emitter of which 1 and 2 are missing, and some server has 1. */
  async function emitterWithout(highest: () => Promise<string | undefined>) {
    const api = await startGuardianApi((_, __, sequence) => (sequence === '1' ? signVaa({ timestamp: 7, sequence: 1n }).bytes : undefined))
    stops.push(api.stop)
    const told: StreamRequest[] = []
    const state: StreamState = { ...initialStream({ stream: 's', origin: '1/0xaa', first: '1', maxOpen: 9 }), next: '3', gaps: [gap] }
    const deps = depsFor([api.url], submitterFor(7))
    const list = async function* () {}
    const options = {
      ...deps,
      source: { ...deps.source, bridge: 'b', sourceChain: 's', config: state.config, begins: {}, highest, published: down },
      chain: { name: 's', heads: { current: { finalized: 9 } } },
      streamClient: {
        view: undefined,
        state: async () => state,
        apply: async (requests: readonly StreamRequest[]) => {
          told.push(...requests)
          return { answers: requests.map(() => ({ kind: 'done' as const })), view: viewStream(state) }
        },
      },
      logger: silentLogger(),
      rangeBlocks: 100,
      client: { workflow: { list } },
    } as unknown as Parameters<typeof createSignedAuditor>[0]
    return { told, auditor: createSignedAuditor(options, 1_000) }
  }
  const seen = { kind: 'seen', numbers: [['1']] }

  it('keeps nothing that the servers have from being told, nor the rest from its turn', async () => {
    const { told, auditor } = await emitterWithout(async () => '2')
    expect(await auditor.audit()).toMatchObject({ started: 1, absent: 1, upTo: '2', height: 9, nextAt: expect.any(Number) })
    expect(told).toEqual([{ kind: 'audited', upTo: '2', height: 9, present: [] }, seen])
  })

  it('is told when all else is done', async () => {
    const { told, auditor } = await emitterWithout(down)
    await expect(auditor.audit()).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
    expect(told).toEqual([seen])
  })
})
