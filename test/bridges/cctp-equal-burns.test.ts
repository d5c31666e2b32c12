import { AbiCoder, decodeBase64 } from 'ethers'
import { describe, expect, test } from 'vitest'
import type { Attested } from '../../bridges/cctp/attesters.ts'
import { carriedIn, createLogDecode } from '../../bridges/cctp/bridge.ts'
import { sentTopic } from '../../bridges/cctp/calls.ts'
import { readCarried, writeCarried } from '../../bridges/cctp/carried.ts'
import { readMessage } from '../../bridges/cctp/message.ts'
import { baseTransmitters, burnBytes, txOf } from '../helpers/cctp.ts'
import { attested, decode, loggedV2, messageOf, network, type NetworkOptions, nonceOf, transferOf } from '../helpers/cctp-endpoint.ts'

describe('Equal logs of one transaction', () => {
  test('equal logs of one transaction are numbered in their order', () => {
    const bytes = loggedV2()
    const data = AbiCoder.defaultAbiCoder().encode(['bytes'], [bytes])
    const log = (index: number, own = data) => {
      const block = { height: 12, hash: '0x' }
      return { address: baseTransmitters[1]!, topics: [sentTopic], data: own, block, index, transactionHash: txOf(bytes) }
    }
    const beside = [log(3), log(4, AbiCoder.defaultAbiCoder().encode(['bytes'], [loggedV2({ minFinality: 7 })])), log(6)]
    const read = createLogDecode(decode)
    const found = beside.map((one) => readCarried(decodeBase64(read(one, String(12_000_000 + one.index), beside)?.message ?? '')))
    const carried = beside.map((one) => carriedIn(one, String(12_000_000 + one.index), beside))
    expect(found.map(writeCarried)).toEqual(carried.map(writeCarried))
    expect(found.map(({ number, twin, twins }) => [number, twin, twins])).toEqual([
      ['12000003', 0, 2],
      ['12000004', 0, 1],
      ['12000006', 1, 2],
    ])
  })

  test('the data of each log of a transaction is read a few times, however many logs it has', () => {
    const bytes = loggedV2()
    const data = AbiCoder.defaultAbiCoder().encode(['bytes'], [bytes])
    let reads = 0
    const logs = Array.from({ length: 500 }, (_, index) => ({
      ...{ address: baseTransmitters[1]!, topics: [sentTopic], block: { height: 12, hash: '0x' }, index, transactionHash: txOf(bytes) },
      get data() {
        reads++
        return data
      },
    }))
    expect(logs.map((log) => carriedIn(log, String(12_000_000 + log.index), logs).twin)).toEqual(logs.map(({ index }) => index))
    expect(reads).toBeLessThan(10 * logs.length)
  })

  test('equal messages of one transaction get an attestation each', async () => {
    const { see, endpoint } = await network()
    const bytes = loggedV2()
    const twins = [0, 1].map((twin) => transferOf(bytes, { twin, twins: 2, number: String(12_000_003 + twin) }))
    see({ bytes, logIndex: 3 })
    for (const twin of twins) expect(await endpoint.attest?.(twin)).toMatchObject({ kind: 'wait', code: 'CCTP_NOT_ATTESTED' })
    see({ bytes, logIndex: 4 })
    const found = await Promise.all(twins.map((twin) => attested(endpoint, twin)))
    expect(new Set(found.map((one) => messageOf(one).nonce)).size).toBe(2)
    expect(new Set(found.map(({ digest }) => digest)).size).toBe(1)
  })

  test('equal messages of one transaction that are attested in parallel share a read and a check', async () => {
    const places = Array.from({ length: 30 }, (_, index) => index)
    let reads = 0
    const count = ({ bytes, attestation }: Attested): Attested => ({
      attestation,
      get bytes() {
        reads++
        return bytes
      },
    })
    let counted: readonly Attested[] | undefined
    const { see, endpoint } = await network({ answer: (messages) => (counted ??= messages.map(count)) })
    const bytes = loggedV2()
    for (const logIndex of places) see({ bytes, logIndex })
    const twins = places.map((twin) => transferOf(bytes, { twin, twins: places.length, number: String(12_000_000 + twin) }))
    const found = await Promise.all(twins.map((twin) => attested(endpoint, twin)))
    expect(new Set(found.map((one) => messageOf(one).nonce)).size).toBe(places.length)
    expect(reads).toBeGreaterThan(0)
    expect(reads).toBeLessThan(places.length ** 2)
  })

  test('equal messages get different nonces, in whatever order the API lists them', async () => {
    let asked = 0
    const answer: NetworkOptions['answer'] = (messages) => (asked++ % 2 === 0 ? messages : messages.toReversed())
    const { see, endpoint, state } = await network({ answer })
    const bytes = loggedV2()
    for (const logIndex of [3, 4]) see({ bytes, logIndex })
    const twins = [0, 1].map((twin) => transferOf(bytes, { twin, twins: 2, number: String(12_000_003 + twin) }))
    const nonces: string[] = []
    for (const twin of twins) nonces.push(messageOf(await attested(endpoint, twin)).nonce)
    expect(new Set(nonces).size).toBe(2)
    state.used.add(nonces[0]!)
    const shown: boolean[] = []
    for (const twin of twins) shown.push(await endpoint.delivered(twin, 'finalized'))
    expect(shown).toEqual([true, false])
  })

  test('if only one of two equal messages is signed, neither burn is attested, or counts as delivered', async () => {
    const forge = ({ attestation }: Attested) => ({ bytes: burnBytes(2), attestation })
    const { see, endpoint, state } = await network({ answer: (messages) => messages.flatMap((one) => [one, forge(one)]) })
    const bytes = loggedV2()
    see({ bytes })
    state.used.add(nonceOf(bytes))
    state.used.add(readMessage(burnBytes(2)).nonce)
    for (const twin of [0, 1].map((place) => transferOf(bytes, { twin: place, twins: 2 }))) {
      expect(await endpoint.attest?.(twin)).toMatchObject({ kind: 'wait', code: 'CCTP_ATTESTATION' })
      expect(await endpoint.delivered(twin, 'finalized')).toBe(false)
    }
  })
})
