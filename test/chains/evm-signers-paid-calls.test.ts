import { describe, expect, test, vi } from 'vitest'
import { createPaidCalls } from '../../chains/evm/signers/paid-calls.ts'
import { withPolicy } from '../../chains/evm/signers/policy.ts'
import type { ProvedRoute, SignedTransaction, UnsignedTransaction } from '../../chains/signing-port.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { testPolicy } from '../helpers/signing-policy.ts'

const [self, treasury, stranger] = ['1', '3', '6'].map((digit) => `0x${digit.repeat(40)}`) as [string, string, string]
const complete = '0xc6878519'
const policy = testPolicy({ payees: [treasury] })

function unsigned(to: string, data: string, value: string): UnsignedTransaction {
  return { networkId: '1337', nonce: 5, to, data, value, gasLimit: '50000', maxFee: '30', tip: '2' }
}

describe('a call that carries coins is signed for one nonce at a time', () => {
  const paid = (nonce: number, changes: Partial<UnsignedTransaction> = {}) => ({
    ...unsigned(stranger, `${complete}00ff`, '7'),
    ...{ nonce, ...changes },
  })

  function setting(prove = () => Promise.resolve<ProvedRoute[]>([])) {
    const seen = { signed: [] as number[], proofs: 0, final: 0, isAway: false }
    const key = {
      address: self,
      async sign({ nonce }: UnsignedTransaction) {
        if (seen.isAway) throw new RelayerError('SIGNER_OFFLINE')
        seen.signed.push(nonce)
        return { raw: '0x' } as SignedTransaction
      },
    }
    const proveCall = () => (seen.proofs++, prove())
    const ofChain = { openCalls: { [complete]: '7' }, finalNonce: async () => seen.final, spendingFolder: temporaryFolder() }
    return { seen, signer: withPolicy(key, { ...policy, ...ofChain, proveCall }) }
  }
  const waits = { code: 'NONCE_NOT_FINAL', retriable: true }

  test('a second nonce of a call with coins waits until the first is final; a raise does not wait', async () => {
    const { seen, signer } = setting()
    await signer.sign(paid(5))
    await signer.sign(paid(5, { maxFee: '40' }))
    expect(seen).toMatchObject({ signed: [5, 5], proofs: 1 })
    for (const final of [0, 5]) {
      seen.final = final
      await expect(signer.check!(paid(6))).rejects.toMatchObject(waits)
      await expect(signer.check!({ ...paid(6), nonce: undefined })).rejects.toMatchObject(waits)
      await expect(signer.sign(paid(6))).rejects.toMatchObject({
        ...waits,
        about: `The call carries coins. (lane=${policy.lane} nonce=5)`,
      })
    }
    seen.final = 6
    await signer.sign(paid(6))
    expect(seen).toMatchObject({ signed: [5, 5, 6], proofs: 8 })
    await expect(signer.sign(paid(7))).rejects.toMatchObject(waits)
  })

  test('a paid call in upper case is the same call', async () => {
    const { signer } = setting()
    await signer.sign(paid(5))
    await expect(signer.sign(paid(6, { data: `0X${complete.slice(2).toUpperCase()}00FF` }))).rejects.toMatchObject(waits)
  })

  test('of nonces that are requested at once, one is signed for a call with coins', async () => {
    const { seen, signer } = setting()
    const outcomes = await Promise.allSettled([5, 6, 7].map((nonce) => signer.sign(paid(nonce))))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(seen.signed).toEqual([5])
  })

  test('calls of one payment share its nonce, although their bytes differ', async () => {
    let payment = 'a'
    const { seen, signer } = setting(async () => {
      const route = { bridge: 'executor', sourceChain: 'there', targetChain: 'here' }
      return [route, { ...route, payment }]
    })
    await signer.sign(paid(5))
    await expect(signer.sign(paid(6, { data: `${complete}00fe` }))).rejects.toMatchObject(waits)
    payment = 'b'
    await signer.sign(paid(6, { data: `${complete}00fe` }))
    expect(seen.signed).toEqual([5, 6])
  })

  test('a nonce that becomes final while the call is proved was not seen by the proof', async () => {
    let end = () => {}
    const isRead = new Promise<void>((resolve) => (end = resolve))
    const { seen, signer } = setting(async () => {
      if (seen.proofs === 2) await isRead
      return []
    })
    await signer.sign(paid(5))
    const later = signer.sign(paid(6))
    await vi.waitFor(() => expect(seen.proofs).toBe(2))
    seen.final = 6
    end()
    await expect(later).rejects.toMatchObject(waits)
    await signer.sign(paid(6))
  })

  test('a nonce that was not signed holds no other up', async () => {
    let isGenuine = false
    const { seen, signer } = setting(async () => {
      if (isGenuine) return []
      throw new RelayerError('CALL_UNJUSTIFIED')
    })
    await expect(signer.sign(paid(5))).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
    Object.assign(seen, { isAway: true })
    isGenuine = true
    await expect(signer.sign(paid(6))).rejects.toMatchObject({ code: 'SIGNER_OFFLINE' })
    Object.assign(seen, { isAway: false })
    await signer.check!(paid(7))
    await signer.sign(paid(7))
    expect(seen.signed).toEqual([7])
  })

  test('other calls with coins, and payments without data, do not wait', async () => {
    const { seen, signer } = setting()
    await signer.sign(paid(5))
    await signer.sign(paid(6, { data: `${complete}00fe` }))
    for (const nonce of [7, 8]) await signer.sign({ ...unsigned(treasury, '0x', '1'), nonce })
    expect(seen).toMatchObject({ signed: [5, 6, 7, 8], proofs: 2 })
  })
})

describe('the nonce that a payment is bound to', () => {
  const call = (nonce: number, value = '7') => ({ data: '0xabcd', value, nonce })

  function setting() {
    const seen = { final: 0, reads: 0 }
    const calls = createPaidCalls({ lane: policy.lane, finalNonce: async () => (seen.reads++, seen.final) })
    /** Begins to sign a paid call. The test ends the signature with `succeed` or `fail`. */
    const begin = async (nonce: number) => {
      const payment = await calls.prove(call(nonce), async () => [])
      let end: { succeed: () => void; fail: () => void } | undefined
      const work = calls.hold(payment, nonce, () => {
        return new Promise<void>((resolve, reject) => {
          end = { succeed: resolve, fail: () => reject(new RelayerError('SIGNER_OFFLINE')) }
        })
      })
      return {
        ...end!,
        outcome: work.then(
          () => 'signed',
          () => 'failed',
        ),
      }
    }
    const signed = async (nonce: number) => {
      const { succeed, outcome } = await begin(nonce)
      succeed()
      return outcome
    }
    return { seen, calls, begin, signed }
  }

  test('the final nonce is read only for a call with coins that another call with coins could hold up', async () => {
    const { seen, calls, signed } = setting()
    await calls.prove(call(1, '0'), async () => [])
    await signed(5)
    await calls.prove(call(6, '0'), async () => [])
    await calls.prove({ ...call(6), data: '0x' }, async () => [])
    expect(seen.reads).toBe(0)
    await signed(5)
    expect(seen.reads).toBe(1)
  })

  test('a nonce that was signed stays bound if a later attempt for it fails', async () => {
    const { begin, signed } = setting()
    expect(await signed(5)).toBe('signed')
    const raise = await begin(5)
    raise.fail()
    expect(await raise.outcome).toBe('failed')
    await expect(signed(6)).rejects.toMatchObject({ code: 'NONCE_NOT_FINAL', facts: { nonce: 5 } })
  })

  test('a nonce is free when all its attempts have failed, and not before', async () => {
    const { begin, signed } = setting()
    const [first, second] = [await begin(5), await begin(5)]
    first.fail()
    expect(await first.outcome).toBe('failed')
    await expect(signed(6)).rejects.toMatchObject({ code: 'NONCE_NOT_FINAL', facts: { nonce: 5 } })
    second.fail()
    expect(await second.outcome).toBe('failed')
    expect(await signed(6)).toBe('signed')
  })

  test('an attempt for an earlier nonce that fails late does not free the nonce that came after it', async () => {
    const { seen, begin, signed } = setting()
    const late = await begin(5)
    seen.final = 6
    expect(await signed(6)).toBe('signed')
    late.fail()
    expect(await late.outcome).toBe('failed')
    await expect(signed(7)).rejects.toMatchObject({ code: 'NONCE_NOT_FINAL', facts: { nonce: 6 } })
  })
})
