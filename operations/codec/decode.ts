import type { Payload, PayloadCodec } from '@temporalio/common'
import { z } from 'zod'
import { RelayerError } from '../../domain/catalogue/errors.ts'

const base64 = z.base64()
/** Protobuf JSON: https://docs.temporal.io/codec-server */
const requestSchema = z.object({
  payloads: z.array(z.object({ metadata: z.record(z.string(), base64).optional(), data: base64.optional() })).max(10_000),
})

type JsonPayload = z.output<typeof requestSchema>['payloads'][number]

/** Counts and returns unchanged what no key opens, or was altered. Throws INPUT_INVALID, which quotes nothing. */
export async function decodeRequest(codec: PayloadCodec, body: Buffer) {
  const parsed = requestSchema.safeParse(parseJson(body))
  if (!parsed.success) throw new RelayerError('INPUT_INVALID', { detail: 'The body is not {"payloads": […]} of protobuf JSON.' })
  let unreadable = 0
  const decode = async (given: JsonPayload): Promise<JsonPayload> => {
    try {
      const [payload] = await codec.decode([fromJson(given)])
      return payload ? toJson(payload) : given
    } catch {
      unreadable++
      return given
    }
  }
  const payloads = await Promise.all(parsed.data.payloads.map(decode))
  return { body: JSON.stringify({ payloads }), payloads: payloads.length, unreadable }
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

function fromJson({ metadata = {}, data = '' }: JsonPayload): Payload {
  const fields = Object.entries(metadata).map(([name, text]) => [name, Buffer.from(text, 'base64')] as const)
  return { metadata: Object.fromEntries(fields), data: Buffer.from(data, 'base64') }
}

function toJson({ metadata, data }: Payload): JsonPayload {
  const fields = Object.entries(metadata ?? {}).map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')] as const)
  return { metadata: Object.fromEntries(fields), data: Buffer.from(data ?? []).toString('base64') }
}
