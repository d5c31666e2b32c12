import { afterEach, describe, expect, it } from 'vitest'
import { startGuardianApi } from '../../devnet/guardian-api.ts'
import { RelayerError } from '../../domain/errors.ts'
import { parseVaa } from '../../domain/vaa.ts'
import type { Door } from '../../intake/start-transfer.ts'
import { fillNumbers } from '../../intake/streams/signed/fill.ts'
import { createVaaLookup } from '../../intake/streams/signed/vaa-lookup.ts'
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

/** A door that lets in what has this time, and says of all else that too few have signed. */
function doorFor(timestamp: number): Door {
  return {
    async submit(_, message) {
      if (parseVaa(message).timestamp !== timestamp) throw new RelayerError('VAA_NO_QUORUM')
      return { id: 'it', status: 'started' }
    },
  }
}

function depsFor(urls: readonly string[], door: Door): Parameters<typeof fillNumbers>[0] {
  const transfer = { bridge: 'b', sourceChain: 's', targetChain: 't', emitter, digest: '0x00' }
  return {
    source: { emitterChain: 2, emitter, delivered: async (all: readonly unknown[]) => all.map(() => false) },
    bridge: { name: 'b', decode: (vaa: Uint8Array) => ({ ...transfer, sequence: parseVaa(vaa).sequence, message: '' }) },
    door,
    lookup: createVaaLookup({ guardianApis: urls, wormholescanApis: [], timeoutMs: 2_000 }),
  } as unknown as Parameters<typeof fillNumbers>[0]
}

describe('the copies of a missing message', () => {
  it('come from each server once: one that has another bad one each time neither keeps it busy nor stands before the others', async () => {
    let time = 1_700_000_000
    const bad = await server(() => signVaa({ timestamp: ++time }).bytes)
    const good = await server(() => signVaa({ timestamp: 7 }).bytes)
    const found = await fillNumbers(depsFor([bad.url, good.url], doorFor(7)), ['42'])
    expect(found.get('42')).toEqual({ kind: 'started', id: 'it', status: 'started' })
    expect([bad.requests.length, good.requests.length]).toEqual([1, 1])
  })

  it('are absent, with the reason of the last, where no server has a good one', async () => {
    let time = 1_700_000_000
    const servers = [await server(() => signVaa({ timestamp: ++time }).bytes), await server(() => signVaa({ timestamp: ++time }).bytes)]
    const urls = servers.map(({ url }) => url)
    const found = await fillNumbers(depsFor(urls, doorFor(7)), ['42'])
    expect(found.get('42')).toEqual({ kind: 'absent', code: 'VAA_NO_QUORUM' })
    expect(servers.map(({ requests }) => requests.length)).toEqual([1, 1])
  })
})
