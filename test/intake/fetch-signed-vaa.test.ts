import { describe, expect, test } from 'vitest'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { startGuardianApi } from '../../lab/devnet/wormhole/guardian-api.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { createVaaLookup, fetchSignedVaa, type MessagePlace } from '../../intake/submit/vaa-lookup.ts'
import { bytesOf, mainnetVaa, signVaa } from '../helpers/vaa.ts'
import { cleanUp } from '../helpers/clean-up.ts'
import { codeOfAsync } from '../helpers/refusals.ts'
import { listenHttp } from '../helpers/servers.ts'

const upgrade = mainnetVaa('guardian set upgrade')
const place = { chain: upgrade.emitterChain, emitter: upgrade.emitterAddress, sequence: upgrade.sequence }

const { bytes: unsigned } = signVaa(
  { emitterChain: place.chain, emitter: place.emitter, sequence: BigInt(place.sequence) },
  { signers: [] },
)

/** URL of a server that has this VAA. Default: a real VAA whose sequence is above 2^53. */
async function guardian(bytes: Uint8Array = bytesOf(upgrade)): Promise<string> {
  const api = await startGuardianApi((chain, emitter, sequence) =>
    chain === place.chain && emitter === place.emitter && sequence === place.sequence ? bytes : undefined,
  )
  cleanUp(api.stop)
  return api.url
}

const fetchFrom = (guardianApis: readonly string[], asked: MessagePlace = place, timeoutMs?: number) =>
  fetchSignedVaa(createVaaLookup({ guardianApis, wormholescanApis: [], timeoutMs }), asked, async (vaa) => vaa)

describe('fetchSignedVaa', () => {
  test('fetchSignedVaa returns the exact bytes for a large sequence and an upper-case emitter', async () => {
    const api = await guardian()
    expect(Buffer.from(await fetchFrom([api])).toString('base64')).toBe(upgrade.vaa)
    expect(await fetchFrom([`${api}/`], { ...place, emitter: place.emitter.toUpperCase() })).toHaveLength(bytesOf(upgrade).length)
  })

  test('fetchSignedVaa asks the next API if one lacks the VAA, is down, is slow or answers junk', async () => {
    const bad = await Promise.all([
      listenHttp((_, response) => void response.writeHead(404).end('{}')),
      listenHttp((_, response) => void response.writeHead(500).end()),
      listenHttp((_, response) => void response.end('<html>')),
      listenHttp((_, response) => void response.end('{"vaaBytes":"!"}')),
      listenHttp((_, response) => void response.end('{"vaaBytes":"AQ=="}')),
      listenHttp((_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()),
      listenHttp(() => undefined),
    ])
    const down = `http://127.0.0.1:${await freePort()}`
    // Only the last bad server, which never answers, takes this long.
    const timeoutMs = 3_000
    const vaa = await fetchFrom([...bad, down, await guardian()], place, timeoutMs)
    expect(Buffer.from(vaa).toString('base64')).toBe(upgrade.vaa)
    const refused: unknown = await fetchFrom([...bad, down], place, timeoutMs).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'VAA_NOT_FOUND', retriable: true })
    const said = (refused as Error).message
    for (const reason of ['not found', 'HTTP 500', 'not JSON', 'without vaaBytes', 'VAA_TRUNCATED', 'no connection', 'no answer in time'])
      expect(said).toContain(reason)
  })

  test('fetchSignedVaa asks the next API if a copy is refused; without a valid copy, it throws', async () => {
    const [bad, good] = await Promise.all([guardian(unsigned), guardian()])
    const lookup = (guardianApis: readonly string[]) => createVaaLookup({ guardianApis, wormholescanApis: [] })
    const take = async (vaa: Uint8Array) => {
      if (Buffer.compare(vaa, unsigned) === 0) throw new RelayerError('VAA_NO_QUORUM')
      return Buffer.from(vaa).toString('base64')
    }
    expect(await fetchSignedVaa(lookup([bad, good]), place, take)).toBe(upgrade.vaa)
    expect(await codeOfAsync(() => fetchSignedVaa(lookup([bad, bad]), place, take))).toBe('VAA_NO_QUORUM')
    const away = () => fetchSignedVaa(lookup([good]), place, async () => Promise.reject(new RelayerError('TEMPORAL_UNAVAILABLE')))
    expect(await codeOfAsync(away)).toBe('TEMPORAL_UNAVAILABLE')
  })

  test('fetchSignedVaa rejects the VAA of another message', async () => {
    const api = await guardian(signVaa({ sequence: 1n }).bytes)
    await expect(fetchFrom([api])).rejects.toThrow('another message')
  })

  test('fetchSignedVaa reports missing APIs, and shows only the origin of a URL', async () => {
    await expect(fetchFrom([])).rejects.toThrow('No guardian API is configured.')
    const secret = `${await listenHttp((_, response) => void response.writeHead(403).end())}/v2/topsecret`
    const said = await fetchFrom([secret]).catch((error: Error) => error.message)
    expect(said).toContain('HTTP 403')
    expect(said).not.toContain('topsecret')
  })
})
