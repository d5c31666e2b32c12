import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { DefaultFailureConverter, type Payload, type PayloadCodec, type SerializationContext } from '@temporalio/common'
import proto from '@temporalio/proto'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { PayloadEncryption, PayloadKeySource } from '../../domain/temporal-access.ts'
import { auditPrefix } from '../contracts/audit.ts'

const algorithm = 'aes-256-gcm'
const keyBytes = 32
/** One key may encrypt 2^32 times with random IVs of 12 bytes (NIST SP 800-38D, 8.2 and 8.3). */
const ivBytes = 12
const tagBytes = 16

const encryptedEncoding = 'binary/encrypted'
const names = { encoding: 'encoding', key: 'encryption-key-id', workflow: 'encryption-workflow-id' } as const
/**
 * A schedule appends this time to a workflow's id after the input was encrypted, so the id to which the input is bound
 * lacks the time.
 */
const scheduledAt = /-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

// In an ES module, Node does not find the named exports of the CommonJS package `proto`.
const { Payload: PayloadMessage } = proto.temporal.api.common.v1

/** Messages and stack traces of failures move into a payload, which the codec encrypts. */
export const encodedFailures = new DefaultFailureConverter({ encodeCommonAttributes: true })

/** Node keeps the key outside JavaScript, so a printed object does not show the key. */
interface PayloadKey {
  readonly id: string
  readonly key: KeyObject
}

/** A ciphertext is bound to its key and workflow id. Throws ENCRYPTION_KEY; `decode` also other ENCRYPTION_* codes. */
export function createEncryptionCodec(encryption: PayloadEncryption | undefined): PayloadCodec & { readonly encrypts: boolean } {
  const keys = encryption ? readPayloadKeys(encryption) : []
  const [current] = keys
  const byId = new Map(keys.map((one) => [one.id, one]))
  return {
    encrypts: current !== undefined,
    async encode(payloads, context) {
      return current ? payloads.map((payload) => encrypt(current, payload, workflowOf(context))) : payloads
    },
    async decode(payloads, context) {
      return payloads.map((payload) => {
        if (textOf(payload, names.encoding) === encryptedEncoding) return decrypt(byId, payload, context)
        if (encryption?.required) throw new RelayerError('ENCRYPTION_MISSING', { facts: { workflow: context?.workflowId } })
        return payload
      })
    },
  }
}

function encrypt({ id, key }: PayloadKey, payload: Payload, workflow: string | undefined): Payload {
  const plain = PayloadMessage.encode(payload).finish()
  const metadata = { [names.encoding]: encryptedEncoding, [names.key]: id, ...(workflow !== undefined && { [names.workflow]: workflow }) }
  return {
    metadata: Object.fromEntries(Object.entries(metadata).map(([name, text]) => [name, Buffer.from(text)])),
    data: seal(key, plain, boundTo(id, workflow)),
  }
}

function decrypt(keys: ReadonlyMap<string, PayloadKey>, payload: Payload, context: SerializationContext | undefined): Payload {
  const workflow = workflowOf(context)
  const id = textOf(payload, names.key) ?? ''
  const own = textOf(payload, names.workflow)
  // Anyone with access to Temporal may have written a long id.
  const facts = { key: id.slice(0, 64), workflow }
  const known = keys.get(id)
  if (!known) throw new RelayerError('ENCRYPTION_KEY_UNKNOWN', { facts })
  let plain: Buffer
  try {
    plain = open(known.key, payload.data ?? new Uint8Array(), boundTo(id, own))
  } catch {
    throw new RelayerError('ENCRYPTION_BROKEN', { detail: 'it was altered', facts })
  }
  // A reader without a workflow id, such as the codec server, may read all payloads.
  if (own !== undefined && workflow !== undefined && own !== workflow)
    throw new RelayerError('ENCRYPTION_BROKEN', { detail: 'it was taken from another workflow', facts })
  // A signal that an operator types is bound to no workflow, because the codec server does not know its workflow. All
  // payloads of steps are bound.
  if (own === undefined && context?.type === 'activity')
    throw new RelayerError('ENCRYPTION_BROKEN', { detail: 'it belongs to no workflow, so it is not of this step', facts })
  return PayloadMessage.decode(plain)
}

/** JSON quotes both, so different pairs of key and workflow give different bytes. */
function boundTo(key: string, workflow: string | undefined): Buffer {
  return Buffer.from(JSON.stringify([encryptedEncoding, key, workflow ?? null]))
}

/**
 * The workflow id to which a payload is bound. The namespace is left out, because histories may move to another one.
 */
function workflowOf(context: SerializationContext | undefined): string | undefined {
  const id = context?.workflowId
  // Without this condition, a payload would decrypt under many ids.
  return id?.startsWith(auditPrefix) ? id.replace(scheduledAt, '') : id
}

function textOf({ metadata }: Payload, name: string): string | undefined {
  const value = metadata?.[name]
  return value ? Buffer.from(value).toString('utf8') : undefined
}

/** Returns IV, ciphertext and tag. The tag also authenticates `bound`. */
function seal(key: KeyObject, plain: Uint8Array, bound: Uint8Array): Buffer {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagBytes })
  cipher.setAAD(bound)
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

function open(key: KeyObject, sealed: Uint8Array, bound: Uint8Array): Buffer {
  if (sealed.length < ivBytes + tagBytes) throw new Error('too short')
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, ivBytes), { authTagLength: tagBytes })
  decipher.setAAD(bound)
  decipher.setAuthTag(sealed.subarray(-tagBytes))
  return Buffer.concat([decipher.update(sealed.subarray(ivBytes, -tagBytes)), decipher.final()])
}

/** Throws ENCRYPTION_KEY if a key is unreadable, or is not 32 bytes in base64 or hex. */
export function readPayloadKeys({ keys }: PayloadEncryption): PayloadKey[] {
  return keys.map((source) => ({ id: source.id, key: createSecretKey(bytesOf(source)) }))
}

function bytesOf({ id, source }: PayloadKeySource): Buffer {
  const facts = { key: id, file: source.file, from: source.from }
  let text: string
  try {
    text = source.read().trim()
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? 'unknown reason'
    throw new RelayerError('ENCRYPTION_KEY', { detail: `it cannot be read (${reason})`, facts })
  }
  const bytes = /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64')
  // Buffer ignores characters that are not base64.
  const isBase64 = bytes.toString('base64').replace(/=$/, '') === text.replace(/=$/, '')
  if (bytes.length === keyBytes && (isBase64 || text.length === 2 * keyBytes)) return bytes
  // The error does not quote the text, which may be a key with a typing error.
  throw new RelayerError('ENCRYPTION_KEY', { detail: 'it is not 32 bytes in base64 or hex', facts })
}
