import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { ApplicationFailure, defaultPayloadConverter, type Payload, type SerializationContext } from '@temporalio/common'
import { encodeErrorToFailure, loadDataConverter } from '@temporalio/common/lib/internal-non-workflow/index.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PayloadEncryption } from '../../domain/temporal-access.ts'
import { createEncryptionCodec, encodedFailures, readPayloadKeys } from '../../temporal/encryption/codec.ts'

const secrets = { one: randomBytes(32), two: randomBytes(32) }
type KeyId = keyof typeof secrets

const encryption = (keys: readonly KeyId[], required = false): PayloadEncryption => ({
  keys: keys.map((id) => ({ id, source: { from: 'a test', read: () => secrets[id].toString('base64') } })),
  required,
})
const codec = createEncryptionCodec(encryption(['one']))
const workflow = (workflowId: string): SerializationContext => ({ type: 'workflow', namespace: 'default', workflowId })
const ofTransfer = workflow('wormhole-token-bridge:2:00:1:aa')
const json = (value: unknown) => defaultPayloadConverter.toPayload(value)
const bytesOf = (payload: Payload) => Buffer.from(payload.data ?? [])
const textIn = ({ metadata }: Payload, name: string) => Buffer.from(metadata?.[name] ?? []).toString()

const payloads = fc.record({
  metadata: fc.dictionary(
    fc.string({ minLength: 1, maxLength: 20 }).filter((name) => name !== '__proto__'),
    fc.uint8Array({ maxLength: 40 }),
    { maxKeys: 4 },
  ),
  data: fc.uint8Array({ maxLength: 2_000 }),
})

async function refusal(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'accepted',
    (error: { code?: string }) => error.code,
  )
}

describe('a payload', () => {
  test('a payload of any content is decrypted unchanged, and the ciphertext shows nothing of it', async () => {
    await fc.assert(
      fc.asyncProperty(payloads, fc.option(fc.string({ minLength: 1 })), async (payload, id) => {
        const context = id === null ? undefined : workflow(id)
        const [sealed] = (await codec.encode([payload], context)) as [Payload]
        expect(Object.keys(sealed.metadata ?? {}).every((name) => name.startsWith('enc'))).toBe(true)
        expect(textIn(sealed, 'encoding')).toBe('binary/encrypted')
        const { length } = payload.data
        if (length > 8) expect(bytesOf(sealed).includes(Buffer.from(payload.data))).toBe(false)
        const [opened] = (await codec.decode([sealed], context)) as [Payload]
        expect(bytesOf(opened)).toEqual(Buffer.from(payload.data))
        const plain = (metadata: Payload['metadata']) =>
          Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, Buffer.from(value).toString('hex')]))
        expect(plain(opened.metadata)).toEqual(plain(payload.metadata))
      }),
    )
  })

  test('a payload is refused if any bit of its ciphertext, key id or workflow id has changed', async () => {
    const [sealed] = (await codec.encode([json({ amount: '1' })], ofTransfer)) as [Payload]
    const parts = ['data', 'encryption-key-id', 'encryption-workflow-id'] as const
    for (const part of parts) {
      const bytes = part === 'data' ? bytesOf(sealed) : Buffer.from(sealed.metadata?.[part] ?? [])
      expect(bytes.length).toBeGreaterThan(2)
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const changed = Buffer.from(bytes)
        changed[bit >> 3]! ^= 1 << (bit & 7)
        const forged = part === 'data' ? { ...sealed, data: changed } : { ...sealed, metadata: { ...sealed.metadata, [part]: changed } }
        // Without a context, as in the codec server, only the cipher can detect the change.
        const code = await refusal(codec.decode([forged]))
        expect(code).toBe(part === 'encryption-key-id' ? 'ENCRYPTION_KEY_UNKNOWN' : 'ENCRYPTION_BROKEN')
      }
    }
  })

  test('a payload is refused when cut short, without data, or under the id of another key', async () => {
    const both = createEncryptionCodec(encryption(['one', 'two']))
    const [sealed] = (await both.encode([json(1)])) as [Payload]
    const cut = Array.from({ length: bytesOf(sealed).length }, (_, length) => ({ ...sealed, data: bytesOf(sealed).subarray(0, length) }))
    for (const one of [...cut, { metadata: sealed.metadata }])
      expect(await refusal(both.decode([one as Payload]))).toBe('ENCRYPTION_BROKEN')
    const renamed = { ...sealed, metadata: { ...sealed.metadata, 'encryption-key-id': Buffer.from('two') } }
    expect(await refusal(both.decode([renamed]))).toBe('ENCRYPTION_BROKEN')
  })

  test('a payload of one workflow is refused in another workflow', async () => {
    const [sealed] = (await codec.encode([json({ gate: true })], ofTransfer)) as [Payload]
    expect(await refusal(codec.decode([sealed], workflow('wormhole-token-bridge:2:00:2:bb')))).toBe('ENCRYPTION_BROKEN')
    const { 'encryption-workflow-id': _, ...unbound } = sealed.metadata ?? {}
    expect(await refusal(codec.decode([{ ...sealed, metadata: unbound }], ofTransfer))).toBe('ENCRYPTION_BROKEN')
    const step: SerializationContext = { ...ofTransfer, type: 'activity', isLocal: false, activityId: '1' }
    expect(await codec.decode([sealed], step)).toHaveLength(1)
  })

  test("a payload that belongs to no workflow opens as a signal, but not as a step's input or result", async () => {
    const typed = await codec.encode([json({ by: 'night-shift' })])
    expect(await codec.decode(typed, ofTransfer)).toHaveLength(1)
    for (const isLocal of [true, false])
      expect(await refusal(codec.decode(typed, { ...ofTransfer, type: 'activity', isLocal, activityId: '1' }))).toBe('ENCRYPTION_BROKEN')
  })

  test('a payload of a schedule opens in the runs that it starts', async () => {
    const [sealed] = (await codec.encode([json({ chain: 'bsc' })], workflow('audit:bsc'))) as [Payload]
    expect(await refusal(codec.decode([sealed], workflow('audit:bsc-2026-11-22T18:20:00Z')))).toBe('accepted')
    expect(await refusal(codec.decode([sealed], workflow('audit:ethereum-2026-11-22T18:20:00Z')))).toBe('ENCRYPTION_BROKEN')
  })

  test.each([
    'operator-transaction:evm:1:0xaa:0011223344556677',
    'lane:evm:1:0xaa',
    'wormhole-token-bridge:2:00:1:aa',
    'settings',
    'my-audit:bsc',
  ])("a payload of %s cannot be opened under another id, even one that ends like a schedule's run", async (id) => {
    const dated = `${id}-2026-01-01T00:00:00Z`
    const [sealed] = (await codec.encode([json({ value: '1' })], workflow(id))) as [Payload]
    expect(await refusal(codec.decode([sealed], workflow(dated)))).toBe('ENCRYPTION_BROKEN')
    const [ofDated] = (await codec.encode([json({ value: '1' })], workflow(dated))) as [Payload]
    expect(await refusal(codec.decode([ofDated], workflow(id)))).toBe('ENCRYPTION_BROKEN')
    expect(await refusal(codec.decode([ofDated], workflow(dated)))).toBe('accepted')
  })

  test('no two payloads have the same IV', async () => {
    const sealed = await codec.encode(Array.from({ length: 2_000 }, () => json(1)))
    expect(new Set(sealed.map((one) => bytesOf(one).subarray(0, 12).toString('hex'))).size).toBe(2_000)
  })
})

describe('keys', () => {
  test('keys rotate: the first encrypts, all decrypt, and a missing one is named', async () => {
    const before = await codec.encode([json('old')])
    const changed = createEncryptionCodec(encryption(['two', 'one']))
    expect(await refusal(changed.decode(before))).toBe('accepted')
    const after = await changed.encode([json('new')])
    expect(textIn(after[0]!, 'encryption-key-id')).toBe('two')
    const only = createEncryptionCodec(encryption(['two']))
    expect(await refusal(only.decode(after))).toBe('accepted')
    await expect(only.decode(before, ofTransfer)).rejects.toThrow(/does not have.*key=one.*temporal\.encryption\.keys/)
    // A process that never had encryption refuses the payload, too.
    expect(await refusal(createEncryptionCodec(undefined).decode(before))).toBe('ENCRYPTION_KEY_UNKNOWN')
  })

  test('payloads from before encryption are readable, unless encryption is required', async () => {
    const plain = [json({ old: true })]
    expect(await codec.decode(plain)).toEqual(plain)
    const strict = createEncryptionCodec(encryption(['one'], true))
    expect(await refusal(strict.decode(plain, ofTransfer))).toBe('ENCRYPTION_MISSING')
    expect(await refusal(strict.decode(await strict.encode(plain)))).toBe('accepted')
    // A signal without arguments has no payload.
    expect(await strict.decode([], ofTransfer)).toEqual([])
    // One plain payload among encrypted ones makes the codec refuse all payloads.
    expect(await refusal(strict.decode([...(await strict.encode(plain)), ...plain]))).toBe('ENCRYPTION_MISSING')
  })

  test('without encryption payloads stay unchanged', async () => {
    const none = createEncryptionCodec(undefined)
    const plain = [json({ a: 1 })]
    expect([none.encrypts, await none.encode(plain), await none.decode(plain)]).toEqual([false, plain, plain])
  })

  const read = (text: string) =>
    readPayloadKeys({ keys: [{ id: 'k', source: { from: 'a test', file: '/k', read: () => text } }], required: false })
  const [key] = [secrets.one]
  test.each([
    ['base64', key.toString('base64')],
    ['base64 without padding, with a line end', `${key.toString('base64').replace('=', '')}\n`],
    ['hex', key.toString('hex')],
    ['hex in capitals', key.toString('hex').toUpperCase()],
  ])('keys are read as %s', (_, text) => {
    expect(read(text)[0]?.key.export()).toEqual(key)
  })

  test.each([
    ['nothing', ''],
    ['16 bytes', key.subarray(16).toString('base64')],
    ['16 bytes of hex', key.subarray(16).toString('hex')],
    ['a digit too many', `${key.toString('hex')}0`],
    ['a password of the right length', 'correct horse battery staple, correct horse!'],
    ['two keys', `${key.toString('base64')}\n${key.toString('base64')}`],
  ])('keys are refused as %s, and are not quoted', (_, text) => {
    let told = ''
    try {
      read(text)
    } catch (error) {
      told = inspect(error)
      expect(error).toMatchObject({ code: 'ENCRYPTION_KEY', facts: { key: 'k', file: '/k' } })
    }
    expect(told).toContain('not 32 bytes')
    if (text) expect(told).not.toContain(text.slice(0, 12))
  })

  test('printing shows no key', () => {
    const printed = inspect([encryption(['one']), readPayloadKeys(encryption(['one'])), codec], { depth: 9, showHidden: true })
    for (const form of ['base64', 'hex'] as const) expect(printed + JSON.stringify([codec])).not.toContain(secrets.one.toString(form))
  })
})

test('message and stack of a failure are encrypted, and its code is not', async () => {
  const converter = { ...loadDataConverter({ payloadCodecs: [codec] }), failureConverter: encodedFailures }
  const failure = await encodeErrorToFailure(
    converter,
    ApplicationFailure.create({ type: 'FEE_LIMIT', message: 'to 0xabc', details: ['0xdef'] }),
  )
  const written = JSON.stringify(failure)
  expect(written).toContain('FEE_LIMIT')
  for (const secret of ['0xabc', '0xdef', 'encryption.test.ts']) {
    expect(written).not.toContain(secret)
    expect(written).not.toContain(Buffer.from(secret).toString('base64'))
  }
  expect(failure.message).toBe('Encoded failure')
})
