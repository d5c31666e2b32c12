import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'
import type { Payload, PayloadCodec, SerializationContext } from '@temporalio/common'
import proto from '@temporalio/proto'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { PayloadEncryption } from '../../domain/temporal-access.ts'
import { auditPrefix } from '../contracts/audit.ts'
import { type PayloadKey, readPayloadKeys } from './keys.ts'

const algorithm = 'aes-256-gcm'
/** 96 bits, random, so one key is good for 2^32 encryptions (NIST SP 800-38D, 8.2 and 8.3). */
const ivBytes = 12
const tagBytes = 16

/** The encoding of Temporal's own samples. Temporal's tools show such a payload as encrypted. */
export const encryptedEncoding = 'binary/encrypted'
const names = { encoding: 'encoding', key: 'encryption-key-id', workflow: 'encryption-workflow-id' } as const
/**
 * The time that a schedule appends to the id of its action. The schedule encrypts for the id without it, and its runs
 * decrypt with it. Only audits have schedules.
 */
const scheduledAt = /-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

// A CommonJS module. Node does not find its names, since tsx runs these sources as ES modules.
const { Payload: PayloadMessage } = proto.temporal.api.common.v1

export interface EncryptionCodec extends PayloadCodec {
  /** False: it passes on plain payloads. */
  readonly encrypts: boolean
}

/**
 * Encrypts every payload with the first key, and decrypts with the key whose id the payload names. Key, encoding and
 * workflow id are bound to the ciphertext, so it opens with no other key and for no other workflow. Without an
 * encryption plain payloads pass in both directions. Throws ENCRYPTION_KEY. `decode` throws ENCRYPTION_KEY_UNKNOWN,
 * ENCRYPTION_BROKEN and, where encryption is required, ENCRYPTION_MISSING. In a Worker that fails the task, which is
 * tried again.
 */
export function createEncryptionCodec(encryption: PayloadEncryption | undefined): EncryptionCodec {
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
        if (textOf(payload, names.encoding) === encryptedEncoding) return decrypt(byId, payload, workflowOf(context))
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

function decrypt(keys: ReadonlyMap<string, PayloadKey>, payload: Payload, workflow: string | undefined): Payload {
  const id = textOf(payload, names.key) ?? ''
  const own = textOf(payload, names.workflow)
  // Anyone who reaches Temporal may have written the metadata.
  const facts = { key: id.slice(0, 64), workflow }
  const known = keys.get(id)
  if (!known) throw new RelayerError('ENCRYPTION_KEY_UNKNOWN', { facts })
  let plain: Buffer
  try {
    plain = open(known.key, payload.data ?? new Uint8Array(), boundTo(id, own))
  } catch {
    throw new RelayerError('ENCRYPTION_BROKEN', { detail: 'it was altered', facts })
  }
  // A reader without a workflow id, such as the codec server, reads all workflows.
  if (own !== undefined && workflow !== undefined && own !== workflow)
    throw new RelayerError('ENCRYPTION_BROKEN', { detail: 'it was taken from another workflow', facts })
  return PayloadMessage.decode(plain)
}

/** Additional data of the cipher, as JSON, so that different values give different bytes. */
function boundTo(key: string, workflow: string | undefined): Buffer {
  return Buffer.from(JSON.stringify([encryptedEncoding, key, workflow ?? null]))
}

/** The namespace is not bound, since histories may be moved to another, or replayed where there is none. */
function workflowOf(context: SerializationContext | undefined): string | undefined {
  const id = context?.workflowId
  // For audits only: an id with a free suffix would let a payload open under any number of ids.
  return id?.startsWith(auditPrefix) ? id.replace(scheduledAt, '') : id
}

function textOf({ metadata }: Payload, name: string): string | undefined {
  const value = metadata?.[name]
  return value ? Buffer.from(value).toString('utf8') : undefined
}

/** Returns IV, ciphertext and tag. @param bound authenticated, not included; `open` needs the same value */
function seal(key: KeyObject, plain: Uint8Array, bound: Uint8Array): Buffer {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagBytes })
  cipher.setAAD(bound)
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** Reverses `seal`. Throws Error if the text, `bound` or the key differ. */
function open(key: KeyObject, sealed: Uint8Array, bound: Uint8Array): Buffer {
  if (sealed.length < ivBytes + tagBytes) throw new Error('too short')
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, ivBytes), { authTagLength: tagBytes })
  decipher.setAAD(bound)
  decipher.setAuthTag(sealed.subarray(-tagBytes))
  return Buffer.concat([decipher.update(sealed.subarray(ivBytes, -tagBytes)), decipher.final()])
}
