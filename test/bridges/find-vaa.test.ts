import { concat, toBeHex } from 'ethers'
import { describe, expect, test } from 'vitest'
import type { ExecutorMessage } from '../../bridges/executor/message.ts'
import { createVaaRequests } from '../../bridges/executor/vaa-requests.ts'
import { attestByVaa } from '../../bridges/kit/find-vaa.ts'
import { createVerifier, digestOf } from '../../bridges/kit/signed-messages.ts'
import { createPaidNtt } from '../../bridges/ntt/paid.ts'
import { createFindVaa, type VaaLookup } from '../../intake/submit/vaa-lookup.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { parseVaa } from '../../domain/vaa.ts'
import { devnetGuardians } from '../../lab/devnet/chain/accounts.ts'
import { nttPayload } from '../helpers/ntt.ts'
import { signVaa } from '../helpers/vaa.ts'

const universal = (digits: string) => digits.repeat(20).padStart(64, '0')
const keys = devnetGuardians(3).map(({ address }) => address)
/** The sets 0 (which has expired) and 1 have the same keys. */
const sets = {
  async get(index: number) {
    if (index > 1) throw new RelayerError('GUARDIAN_SET_UNKNOWN')
    return { index, keys, expirationTime: index === 0 ? 1 : 0, current: index === 1 }
  },
}
const verify = createVerifier(sets, () => 1_700_000_000)
const place = { chain: 2, emitter: universal('a1'), sequence: '7' }
const copy = (options: Parameters<typeof signVaa>[1]) =>
  signVaa({ emitterChain: 2, emitter: place.emitter, sequence: 7n, payload: nttPayload() }, { guardians: 3, setIndex: 1, ...options }).bytes
const genuine = copy({})
const refused = [
  ['without signatures', copy({ signers: [] }), 'VAA_NO_QUORUM'],
  ['of an expired guardian set', copy({ setIndex: 0 }), 'GUARDIAN_SET_EXPIRED'],
  ['of a guardian set that does not exist yet', copy({ setIndex: 2 }), 'GUARDIAN_SET_UNKNOWN'],
] as const

const request: ExecutorMessage = {
  ...{ sourceChain: 2, height: 9, logIndex: 3, txHash: `0x${'09'.repeat(32)}`, attested: [] },
  request: {
    ...{
      quoter: `0x${'9'.repeat(40)}`,
      amountPaid: 1n,
      targetChain: 4,
      targetAddress: universal('bb'),
      refundAddress: `0x${'f'.repeat(40)}`,
    },
    ...{ signedQuote: new Uint8Array(), instructions: new Uint8Array() },
    request: Buffer.from(concat(['0x45525631', toBeHex(2, 2), `0x${place.emitter}`, toBeHex(7, 8)]).slice(2), 'hex'),
  },
}

/** APIs that have these copies. */
function apisWith(...copies: readonly (Uint8Array | undefined)[]) {
  const asked: number[] = []
  const find: VaaLookup['find'] = async (_, from) => {
    asked.push(from ?? 0)
    const api = copies.findIndex((vaa, index) => index >= (from ?? 0) && vaa !== undefined)
    const vaa = copies[api]
    return vaa ? { kind: 'found', vaa, origin: `https://${api}.test`, api } : { kind: 'absent', againInMs: undefined, why: 'not found' }
  }
  return { find: createFindVaa({ find }), asked }
}

describe('The copies of several guardian APIs', () => {
  test.each(refused)('if the signatures of a copy are refused, the next API is asked: %s', async (_, bad) => {
    const { find } = apisWith(undefined, bad, bad, genuine)
    expect(await attestByVaa(find, verify, place)).toEqual({ kind: 'attested', message: genuine })
  })

  test.each(refused)('if no API has a better copy, the transfer waits with the first refusal: %s', async (_, bad, code) => {
    const { find, asked } = apisWith(bad, copy({ signers: [0] }))
    expect(await attestByVaa(find, verify, place)).toMatchObject({ kind: 'wait', code, retryInMs: 5_000 })
    expect(asked).toEqual([0, 1, 2])
  })

  test('while the nodes cannot check signatures, no further API is asked', async () => {
    const { find, asked } = apisWith(genuine, genuine)
    const away = async () => Promise.reject(new RelayerError('NODE_UNAVAILABLE'))
    expect(await attestByVaa(find, away, place)).toMatchObject({ kind: 'wait', code: 'NODE_UNAVAILABLE', retryInMs: 5_000 })
    expect(asked).toEqual([0])
  })

  test('while one API has asked for a pause, the other APIs are asked again soon', async () => {
    const wait = async (kind: 'absent' | 'unknown') =>
      attestByVaa(async () => ({ kind, againInMs: 3_600_000, why: 'HTTP 429' }), verify, place)
    expect(await wait('absent')).toMatchObject({ code: 'VAA_NOT_FOUND', retryInMs: 5_000 })
    expect(await wait('unknown')).toMatchObject({ code: 'VAA_NOT_FOUND', retryInMs: 3_600_000 })
  })

  test.each(refused)('the valid copy attests a paid NTT transfer: %s', async (_, bad) => {
    const { find } = apisWith(bad, genuine)
    const peers = {
      ethereum: { manager: universal('77'), transceivers: [place.emitter] },
      bsc: { manager: universal('88'), transceivers: [universal('b1')] },
    }
    const names = new Map([
      [2, 'ethereum'],
      [4, 'bsc'],
    ] as const)
    const ntt = createPaidNtt({
      ...{ deployments: [{ peers }], chainNames: names, sources: new Map(), findVaa: find },
      targets: new Map([['bsc', { chain: { name: 'bsc' } as never, clock: () => 0, verify }]]),
    })
    const logged = ntt.decode(copy({ signers: [] }))
    expect(logged.digest).toBe(digestOf(parseVaa(genuine)))
    expect(await ntt.endpoints.get('bsc')?.attest?.(logged)).toEqual({ kind: 'attested', message: genuine })
  })

  test.each(refused)('the valid copy attests a request for a Wormhole message, and shows its delivery: %s', async (_, bad) => {
    const { find } = apisWith(bad, genuine)
    const chain = { name: 'bsc', call: async () => `0x${'1'.padStart(64, '0')}` }
    const receivers = { [`0x${'b'.repeat(40)}`]: { view: 'isReceived(bytes32)', args: ['$digest'], is: 'true' } }
    const requests = createVaaRequests({ chain, verify, findVaa: find, receivers })
    expect(await requests.attest(request)).toMatchObject({ kind: 'attested' })
    expect([await requests.mayShow(request), await requests.delivered(request, 'latest')]).toEqual([true, true])
  })
})
