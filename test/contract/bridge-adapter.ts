import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Bridge, Endpoint } from '../../bridges/port.ts'
import type { Chain, Receipt } from '../../chains/port.ts'
import { type ErrorCode, errorCatalogue } from '../../domain/catalogue/errors.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import { type ChainName, ofChain, type Transfer } from '../../domain/transfer/transfer.ts'
import { codesOfDenials } from '../helpers/denials.ts'
import { codeOf, codeOfAsync } from '../helpers/refusals.ts'

export interface BridgeHarness {
  readonly bridge: Bridge
  readonly target: ChainName
  readonly chain: Chain
  /** A new, correctly signed message that the target accepts. */
  message(): Uint8Array
  /** Well-formed messages with invalid signatures. */
  forgeries(): readonly { readonly what: string; readonly bytes: Uint8Array }[]
  /** Address of the sender of `deliver`, in lower case. */
  readonly sender: string
  /** Sends a call and mines it. A call with `gasLimit` may revert. */
  deliver(intent: Intent, gasLimit?: string): Promise<Receipt>
  finalise(): Promise<void>
  stop(): Promise<void>
}

export function bridgeAdapterSuite(name: string, start: () => Promise<BridgeHarness>): void {
  describe(`bridge adapter ${name}`, () => {
    let harness: BridgeHarness
    let endpoint: Endpoint
    const next = (): Transfer => harness.bridge.decode(harness.message())

    beforeAll(async () => {
      harness = await start()
      endpoint = ofChain(harness.bridge.endpoints, { chain: harness.target })
    })
    afterAll(() => harness?.stop())

    test('a bridge adapter has a name, and the chain of its endpoint', () => {
      expect(harness.bridge.name).toMatch(/^[a-z][a-z0-9-]+$/)
      expect(endpoint.chain).toBe(harness.target)
    })

    test('a bridge adapter decodes bytes to the same plain JSON each time', () => {
      const bytes = harness.message()
      const transfer = harness.bridge.decode(bytes)
      expect(transfer).toMatchObject({ bridge: harness.bridge.name, targetChain: harness.target })
      expect(transfer.emitter).toMatch(/^[0-9a-f]{64}$/)
      expect(transfer.sequence).toMatch(/^(0|[1-9][0-9]{0,19})$/)
      expect(transfer.digest).toMatch(/^0x[0-9a-f]{64}$/)
      expect(Buffer.from(transfer.message, 'base64')).toEqual(Buffer.from(bytes))
      expect(JSON.parse(JSON.stringify(transfer))).toEqual(transfer)
      expect(harness.bridge.decode(bytes.slice())).toEqual(transfer)
      expect(harness.bridge.decode(harness.message()).digest).not.toBe(transfer.digest)
    })

    test('a bridge adapter refuses every shorter copy with a code that no retry heals', async () => {
      const bytes = harness.message()
      for (let length = 0; length < bytes.length; length++) {
        const code = codeOf(() => harness.bridge.decode(bytes.subarray(0, length)))
        expect(errorCatalogue[code as ErrorCode], `${length} bytes: ${code}`).toMatchObject({ retriable: false })
        expect(['rejected', 'wait']).toContain((await endpoint.verify(bytes.subarray(0, length))).kind)
      }
    })

    test('a bridge adapter takes a well-signed message', async () => {
      const transfer = next()
      expect(await endpoint.verify(Buffer.from(transfer.message, 'base64'))).toMatchObject({ kind: 'valid' })
      const verdict = await endpoint.validate(transfer)
      expect(verdict).toMatchObject({ kind: 'valid' })
      const made = verdict.kind === 'valid' ? verdict.delivery : undefined
      const asked = endpoint.delivery(transfer)
      if (made)
        expect({ ...made, call: undefined, earned: undefined }).toEqual({
          ...asked,
          call: undefined,
          earned: undefined,
          intent: await asked.call(),
        })
      expect(await made?.earned?.()).toBe(await asked.earned?.())
    })

    test('a bridge adapter rejects every forgery, before an id is taken and after', async () => {
      const forgeries = harness.forgeries()
      expect(forgeries.length).toBeGreaterThan(0)
      for (const { what, bytes } of forgeries) {
        const verdicts = [await endpoint.verify(bytes), await endpoint.validate(harness.bridge.decode(bytes))]
        for (const verdict of verdicts)
          expect(verdict, what).toMatchObject({ kind: 'rejected', code: expect.any(String), reason: expect.any(String) })
      }
    })

    test('a bridge adapter rejects the message of another transfer', async () => {
      const [one, other] = [next(), next()]
      for (const mixed of [
        { ...one, message: other.message },
        { ...one, sequence: other.sequence },
        { ...one, digest: other.digest },
        { ...one, emitter: 'ab'.repeat(32) },
      ]) {
        expect(await endpoint.validate(mixed)).toMatchObject({ kind: 'rejected' })
      }
    })

    test('a transfer stays valid if its source chain had another name when the transfer started', async () => {
      expect(await endpoint.validate({ ...next(), sourceChain: 'former-name' })).toMatchObject({ kind: 'valid' })
    })

    test('a bridge adapter names one call per transfer, which carries no coins by itself', async () => {
      const transfer = next()
      const intent = await endpoint.delivery(transfer).call()
      expect(intent.to).toMatch(/^0x[0-9a-f]{40}$/)
      expect(intent.data).toMatch(/^0x([0-9a-f]{2})+$/)
      expect(intent.value).toMatch(/^[0-9]+$/)
      expect(await endpoint.delivery(transfer).call()).toEqual(intent)
    })

    test('a bridge adapter proves only calls that deliver, because a key signs each call that it proves', async () => {
      const transfer = next()
      const intent = await endpoint.delivery(transfer).call()
      const { recipient, token } = endpoint.delivery(transfer).parties
      expect(await endpoint.proveCall(intent)).toEqual([{ sourceChain: transfer.sourceChain, parties: { recipient, token } }])
      await endpoint.proveCall({ ...intent, to: intent.to.toUpperCase().replace('0X', '0x') })
      const forged = harness
        .forgeries()
        .map(async ({ what, bytes }) => ({ what, call: await endpoint.delivery(harness.bridge.decode(bytes)).call() }))
      const selector = intent.data.slice(0, 10)
      const calls = [
        ...(await Promise.all(forged)),
        { what: 'a byte more', call: { ...intent, data: `${intent.data}00` } },
        { what: 'a word more', call: { ...intent, data: `${intent.data}${'00'.repeat(32)}` } },
        { what: 'a byte less', call: { ...intent, data: intent.data.slice(0, -2) } },
        { what: 'no arguments', call: { ...intent, data: selector } },
        { what: 'no function', call: { ...intent, data: '0x' } },
        { what: 'another function', call: { ...intent, data: `0xdeadbeef${intent.data.slice(10)}` } },
        { what: 'another contract', call: { ...intent, to: `0x${'ab'.repeat(20)}` } },
        { what: 'coins', call: { ...intent, value: '1' } },
      ]
      for (const { what, call } of calls) {
        await expect(endpoint.proveCall(call), what).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED', retriable: false })
      }
      for (let at = 10; at < intent.data.length; at += Math.max(2, Math.ceil(intent.data.length / 128)) & ~1) {
        const byte = (Number.parseInt(intent.data.slice(at, at + 2), 16) ^ 1).toString(16).padStart(2, '0')
        const data = `${intent.data.slice(0, at)}${byte}${intent.data.slice(at + 2)}`
        // The changed byte may make the message name a future number or guardian set. Such a message waits.
        expect(['CALL_UNJUSTIFIED', 'NATIVE_NOT_FINAL', 'GUARDIAN_SET_UNKNOWN'], `byte ${at}`).toContain(
          await codeOfAsync(() => endpoint.proveCall({ ...intent, data })),
        )
      }
    })

    test('a bridge adapter writes recipient and token in the same form as an order that denies them', () => {
      const { parties } = endpoint.delivery(next())
      expect(codesOfDenials(parties)).toEqual(['RECIPIENT_DENIED', 'TOKEN_DENIED'])
    })

    test('a bridge adapter shows a delivery like the chain: latest, then final, and refuses a second one', async () => {
      const [transfer, other] = [next(), next()]
      const intent = await endpoint.delivery(transfer).call()
      expect(await harness.chain.simulate(intent, harness.sender)).toMatchObject({ ok: true })
      expect([await endpoint.delivered(transfer, 'latest'), await endpoint.delivered(transfer, 'finalized')]).toEqual([false, false])
      expect(await endpoint.findDelivery(transfer)).toBeUndefined()

      const receipt = await harness.deliver(intent)
      expect([receipt.status, endpoint.hasEffect(receipt, transfer), endpoint.hasEffect(receipt, other)]).toEqual(['success', true, false])
      expect([await endpoint.delivered(transfer, 'latest'), await endpoint.delivered(transfer, 'finalized')]).toEqual([true, false])
      expect(await endpoint.findDelivery(transfer)).toEqual({
        by: harness.sender,
        txHash: receipt.hash,
        blockHeight: receipt.block.height,
        blockHash: receipt.block.hash,
      })
      await harness.finalise()
      expect(await endpoint.delivered(transfer, 'finalized')).toBe(true)
      expect(await endpoint.delivered(other, 'latest')).toBe(false)

      const again = await harness.chain.simulate(intent, harness.sender)
      expect(again.ok).toBe(false)
      expect(again.ok || endpoint.explainRevert(again.revert)).toEqual({ kind: 'delivered' })
      const reverted = await harness.deliver(intent, '400000')
      expect([reverted.status, endpoint.hasEffect(reverted, transfer)]).toEqual(['reverted', false])
      // A reverted receipt does not show the effect, even if it has the event.
      expect(endpoint.hasEffect({ ...receipt, status: 'reverted' }, transfer)).toBe(false)
    })

    test('a bridge adapter does not take an unknown revert for a delivery', () => {
      for (const data of ['0x', '0x12345678', '0xff']) {
        expect(endpoint.explainRevert({ data, reason: '' }).kind).toBe('unknown')
      }
    })
  })
}
