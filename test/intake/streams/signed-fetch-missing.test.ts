import type { Transfer } from '../../../domain/transfer/transfer.ts'
import { describe, expect, test } from 'vitest'
import { Client, Connection } from '@temporalio/client'
import { startGuardianApi } from '../../../lab/devnet/wormhole/guardian-api.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { parseVaa } from '../../../domain/vaa.ts'
import type { Endpoint, SignedSource, Verdict } from '../../../bridges/port.ts'
import type { Submitter } from '../../../intake/submit/submitter.ts'
import { initialStream } from '../../../domain/stream/reducer.ts'
import type { StreamState } from '../../../domain/stream/stream.ts'
import { createSignedAuditor } from '../../../intake/streams/signed/audit/audit.ts'
import { deliveredByTarget, fetchMessages } from '../../../intake/streams/signed/gaps/fetch-messages.ts'
import { silentLogger } from '../../../observability/logger.ts'
import { createVaaLookup } from '../../../intake/submit/vaa-lookup.ts'
import { nativeTransfer } from '../../helpers/native-transfer.ts'
import { unused } from '../../helpers/unused.ts'
import { signVaa } from '../../helpers/vaa.ts'
import { fakeChain, recordingStream } from './fake-context.ts'
import { cleanUp } from '../../helpers/clean-up.ts'

const emitter = `${'00'.repeat(12)}${'33'.repeat(20)}`
const bridge = 'wormhole-token-bridge'

async function server(copy: () => Uint8Array) {
  const api = await startGuardianApi(() => copy())
  cleanUp(api.stop)
  return api
}

function clientWithoutWorkflows(): Client {
  const client = new Client({ connection: Connection.lazy() })
  client.workflow.list = () => {
    const none = (async function* () {})()
    return Object.assign(none, { intoHistories: unused('intoHistories') })
  }
  return client
}

/**
 * A submitter that takes only messages with this timestamp. It refuses others as if too few guardians had signed them.
 */
function submitterFor(timestamp: number): Submitter {
  return {
    async submit(_, message) {
      if (parseVaa(message).timestamp !== timestamp) throw new RelayerError('VAA_NO_QUORUM')
      return { id: 'it', status: 'started' }
    },
  }
}

/** Endpoints of the targets. By default they accept every message as valid. */
function endpointsFor(verify = (_: Uint8Array): Verdict => ({ kind: 'valid' })): Deps['bridge']['endpoints'] {
  const endpoint = { verify: async (vaa: Uint8Array) => verify(vaa) } as Endpoint
  return new Map(['t', 'alive', 'dead'].map((name) => [name, endpoint]))
}

type Deps = Parameters<typeof fetchMessages>[0]

function depsFor(urls: readonly string[], submitter: Submitter, own: Pick<Partial<SignedSource>, 'delivered'> = {}): Deps {
  const transfer = { bridge, sourceChain: 's', sourceId: '2', targetChain: 't', emitter, digest: '0x00', message: '' }
  return {
    source: { emitterChain: 2, emitter, sourceChain: 's', delivered: async (all) => all.map(() => false), ...own },
    bridge: { name: bridge, decode: (vaa) => ({ ...transfer, sequence: parseVaa(vaa).sequence }), endpoints: endpointsFor() },
    submitter,
    lookup: createVaaLookup({ guardianApis: urls, wormholescanApis: [], timeoutMs: 15_000 }),
  }
}

describe('the copies of a missing message', () => {
  test('each server is asked once for a copy, even if it has another bad copy each time', async () => {
    let time = 1_700_000_000
    const bad = await server(() => signVaa({ timestamp: ++time }).bytes)
    const good = await server(() => signVaa({ timestamp: 7 }).bytes)
    const found = await fetchMessages(depsFor([bad.url, good.url], submitterFor(7)), ['42'])
    expect(found.get('42')).toEqual({ kind: 'started', id: 'it', status: 'started', publishedAt: 7_000 })
    expect([bad.requests.length, good.requests.length]).toEqual([1, 1])
  })

  test('a signed message that a plug-in does not deliver is ignored, so that its number is no gap', async () => {
    const { url } = await server(() => signVaa({ timestamp: 7 }).bytes)
    const submit = () => Promise.reject(new RelayerError('PAYLOAD_KIND'))
    expect((await fetchMessages(depsFor([url], { submit }), ['42'])).get('42')).toEqual({ kind: 'ignored', publishedAt: 7_000 })
  })

  test('a message without a valid copy is absent, with the reason of the last refusal', async () => {
    let time = 1_700_000_000
    const servers = [await server(() => signVaa({ timestamp: ++time }).bytes), await server(() => signVaa({ timestamp: ++time }).bytes)]
    const urls = servers.map(({ url }) => url)
    const found = await fetchMessages(depsFor(urls, submitterFor(7)), ['42'])
    expect(found.get('42')).toEqual({ kind: 'absent', code: 'VAA_NO_QUORUM' })
    expect(servers.map(({ requests }) => requests.length)).toEqual([1, 1])
  })
})

describe('a copy whose transfer the target shows as delivered', () => {
  const rejected: Verdict = { kind: 'rejected', code: 'VAA_NO_QUORUM', reason: 'unsigned' }
  /**
   * Fetches number 42 from a server with a forged copy and a server with the true copy. As with NTT, the id of a
   * transfer comes from its payload, so the forged copy names a delivered transfer.
   */
  async function fetched(verify: (vaa: Uint8Array) => Verdict) {
    const forged = await server(() => signVaa({ timestamp: 1_700_000_000 }, { signers: [] }).bytes)
    const good = await server(() => signVaa({ timestamp: 7 }).bytes)
    const { bridge: decoder, ...deps } = depsFor([forged.url, good.url], submitterFor(7))
    const decode = (vaa: Uint8Array) => ({ ...decoder.decode(vaa), digest: parseVaa(vaa).timestamp === 7 ? '0x42' : '0x07' })
    const source: Deps['source'] = { ...deps.source, delivered: async (all) => all.map(({ digest }) => digest === '0x07') }
    return (await fetchMessages({ ...deps, source, bridge: { ...decoder, decode, endpoints: endpointsFor(verify) } }, ['42'])).get('42')
  }
  const isForged = (vaa: Uint8Array) => parseVaa(vaa).signatures.length === 0

  test('an unsigned copy of a delivered transfer is not believed, and the next server is asked', async () => {
    const found = await fetched((vaa) => (isForged(vaa) ? rejected : { kind: 'valid' }))
    expect(found).toEqual({ kind: 'started', id: 'it', status: 'started', publishedAt: 7_000 })
  })

  test('a copy with good signatures counts as delivered, even if its guardians were replaced later', async () => {
    const expired = { kind: 'rejected', code: 'GUARDIAN_SET_EXPIRED', reason: 'expired', awaitNewSignatures: true } as const
    expect(await fetched(() => ({ kind: 'valid' }))).toEqual({ kind: 'delivered' })
    expect(await fetched(() => expired)).toEqual({ kind: 'delivered' })
  })

  test('a copy whose signatures cannot be checked now decides nothing', async () => {
    const down = () => {
      throw new RelayerError('NODE_UNAVAILABLE')
    }
    expect(await fetched(down)).toMatchObject({ kind: 'unknown', blocked: { code: 'NODE_UNAVAILABLE', chain: 't' } })
  })
})

describe('a copy of a guardian set that no chain knows', () => {
  async function fetchedOf(timestamps: readonly number[]) {
    const urls = await Promise.all(timestamps.map(async (timestamp) => (await server(() => signVaa({ timestamp }).bytes)).url))
    const submitter: Submitter = {
      async submit(name, message) {
        if (parseVaa(message).timestamp === 8) throw new RelayerError('GUARDIAN_SET_UNKNOWN')
        return submitterFor(7).submit(name, message)
      },
    }
    return (await fetchMessages(depsFor(urls, submitter), ['42'])).get('42')
  }

  test('if a copy has an unknown guardian set, the next server is asked', async () => {
    expect(await fetchedOf([8, 7])).toMatchObject({ kind: 'started' })
  })

  test('a message with no better copy waits for the guardian set', async () => {
    const waiting = { kind: 'unknown', blocked: { code: 'GUARDIAN_SET_UNKNOWN', chain: 't' } }
    expect([await fetchedOf([8]), await fetchedOf([8, 9])]).toMatchObject([waiting, waiting])
  })
})

describe('a target whose nodes are down', () => {
  const down = () => Promise.reject(new RelayerError('NODE_UNAVAILABLE'))
  const apart = (deps: Deps): Deps => {
    const decode = (vaa: Uint8Array) => {
      const transfer = deps.bridge.decode(vaa)
      return { ...transfer, targetChain: BigInt(transfer.sequence) % 2n === 0n ? 'dead' : 'alive' }
    }
    return { ...deps, bridge: { ...deps.bridge, decode } }
  }
  const deadOnly: SignedSource['delivered'] = (some) =>
    some.some(({ targetChain }) => targetChain === 'dead') ? down() : Promise.resolve(some.map(({ sequence }) => sequence === '3'))
  test('a target that is down delays only its own numbers', async () => {
    const api = await startGuardianApi((_, __, sequence) => signVaa({ timestamp: 7, sequence: BigInt(sequence) }).bytes)
    cleanUp(api.stop)
    const found = await fetchMessages(apart(depsFor([api.url], submitterFor(7), { delivered: deadOnly })), ['1', '2', '3'])
    const sorted = [...found].sort(([a], [b]) => Number(a) - Number(b))
    expect(sorted).toEqual([
      ['1', { kind: 'started', id: 'it', status: 'started', publishedAt: 7_000 }],
      [
        '2',
        {
          kind: 'unknown',
          againInMs: 5_000,
          why: expect.stringContaining('No node'),
          blocked: { code: 'NODE_UNAVAILABLE', chain: 'dead' },
        },
      ],
      ['3', { kind: 'delivered' }],
    ])
    const transfers = [2, 3, 5].map((number) => nativeTransfer(number, { targetChain: number === 2 ? 'dead' : 'alive' }))
    const { done, unread } = await deliveredByTarget({ delivered: deadOnly }, transfers)
    expect([[...done], [...unread.keys()]]).toEqual([['3'], ['2']])
  })

  test('a view that refuses one message leaves the other messages to its target', async () => {
    const refused = new RelayerError('NODE_REFUSED')
    const delivered = async (some: readonly Transfer[]) => {
      if (some.some(({ sequence }) => sequence === '2')) throw refused
      return some.map(({ sequence }) => sequence === '3')
    }
    const transfers = [2, 3, 5].map((number) => nativeTransfer(number, { targetChain: 'alive' }))
    const { done, unread } = await deliveredByTarget({ delivered }, transfers)
    expect([[...done], [...unread]]).toEqual([['3'], [['2', refused]]])
  })

  test('a view that refuses one message of many is asked by halves, not message by message', async () => {
    let calls = 0
    const delivered = async (some: readonly Transfer[]) => {
      calls++
      if (some.some(({ sequence }) => sequence === '37')) throw new RelayerError('NODE_REFUSED')
      return some.map(() => true)
    }
    const transfers = Array.from({ length: 64 }, (_, index) => nativeTransfer(index, { targetChain: 'alive' }))
    const { done, unread } = await deliveredByTarget({ delivered }, transfers)
    expect([done.size, [...unread.keys()], calls]).toEqual([63, ['37'], 13])
  })

  test('an error that is not an outage is thrown', async () => {
    const transfers = [nativeTransfer(2, { targetChain: 'dead' })]
    const wrong = () => Promise.reject(new RelayerError('NATIVE_NONCE_MISMATCH'))
    await expect(deliveredByTarget({ delivered: wrong }, transfers)).rejects.toMatchObject({ code: 'NATIVE_NONCE_MISMATCH' })
  })
})

describe('a source whose nodes are down', () => {
  const down = () => Promise.reject(new RelayerError('NODE_UNAVAILABLE'))
  const gap = { from: '1', to: '2', state: 'unobserved' as const, at: 1 }

  async function emitterWithout(highest: () => Promise<string | undefined>) {
    const api = await startGuardianApi((_, __, sequence) => (sequence === '1' ? signVaa({ timestamp: 7, sequence: 1n }).bytes : undefined))
    cleanUp(api.stop)
    const state: StreamState = { ...initialStream({ stream: 's', origin: '1/0xaa', first: '1', maxOpen: 9 }), next: '3', gaps: [gap] }
    const { streamClient, requests } = recordingStream(state)
    const deps = depsFor([api.url], submitterFor(7))
    const source: SignedSource = {
      ...deps.source,
      kind: 'signed',
      bridge,
      owners: [bridge],
      config: state.config,
      begins: {},
      highest,
      published: down,
    }
    const options = {
      ...deps,
      source,
      chain: fakeChain(9),
      streamClient,
      logger: silentLogger(),
      rangeBlocks: 100,
      lookBackMs: 0,
      client: clientWithoutWorkflows(),
    }
    return { requests, auditor: createSignedAuditor(options, 1_000) }
  }
  const seen = { kind: 'seen', numbers: [['1']] }

  test('a source that is down does not delay the messages of the servers', async () => {
    const { requests, auditor } = await emitterWithout(async () => '2')
    expect(await auditor.audit()).toMatchObject({ started: 1, absent: 1, upTo: '2', height: 9, nextAt: expect.any(Number) })
    expect(requests).toEqual([{ kind: 'audited', upTo: '2', height: 9, present: [] }, seen])
  })

  test('an outage of the source is thrown after all other work is done', async () => {
    const { requests, auditor } = await emitterWithout(down)
    await expect(auditor.audit()).rejects.toMatchObject({ code: 'NODE_UNAVAILABLE' })
    expect(requests).toEqual([seen])
  })
})
