import type { FastifyRequest } from 'fastify'
import { aboutTransfer } from '../access/subjects.ts'
import type { Bridges } from '../bridges/port.ts'
import { RelayerError, toRelayerError } from '../domain/errors.ts'
import type { SubmitOptions, SubmitResult } from '../intake/submitter.ts'
import { orderedBy } from './access.ts'
import type { ApiDeps } from './deps.ts'

const hex = /^(0x)?([0-9a-f]{2})+$/i
const base64 = /^[A-Za-z0-9+/_-]+={0,2}$/

/**
 * The bytes of a signed message in hex (with or without 0x) or base64 (plain or URL-safe), however it is broken into lines (`base64` of GNU does). A text that could be both is hex: the base64 of a VAA starts with
 * `AQ`, which no hex does. Throws MESSAGE_ENCODING.
 */
export function messageBytes(text: string): Uint8Array {
  const trimmed = text.replaceAll(/\s+/g, '')
  if (hex.test(trimmed)) return Buffer.from(trimmed.replace(/^0x/i, ''), 'hex')
  const digits = trimmed.replace(/=+$/, '')
  // Buffer ignores invalid characters, and base64 never leaves a single character over.
  if (base64.test(trimmed) && digits.length % 4 !== 1) return Buffer.from(digits, 'base64')
  throw new RelayerError('MESSAGE_ENCODING', { facts: { characters: trimmed.length } })
}

/** The bridge of a request that names none: the first one. Throws INPUT_INVALID if there is none. */
export function defaultBridge(bridges: Bridges): string {
  const [first] = bridges.keys()
  if (first === undefined) throw new RelayerError('INPUT_INVALID', { detail: 'No bridge is configured.' })
  return first
}

interface Submission extends Pick<SubmitOptions, 'priority' | 'deadline'> {
  readonly bridge: string
  readonly message: Uint8Array
  /** Kept with the name of who hands it in; absent: `handed in`. */
  readonly reason?: string | undefined
}

/** Submits a message for whoever asks, whose name the transfer keeps, and counts it. Throws INPUT_INVALID for a bridge that is not configured, ACCESS_SCOPE, and as the submitter. */
export async function submit(
  { submitter, network: { bridges }, metrics }: ApiDeps,
  request: FastifyRequest,
  { bridge, message, reason = 'handed in', ...options }: Submission,
): Promise<SubmitResult> {
  const protocol = bridges.get(bridge)
  if (!protocol) {
    throw new RelayerError('INPUT_INVALID', { detail: `There is no bridge ${bridge}; configured: ${[...bridges.keys()].join(', ')}.` })
  }
  metrics.portage_intake_messages_total.inc({ via: 'api', bridge })
  try {
    const by = orderedBy(request, aboutTransfer(protocol.decode(message).targetChain))
    const answer = await submitter.submit(bridge, message, { ...options, order: { by, reason } })
    metrics.portage_intake_started_total.inc({ via: 'api', bridge, status: answer.status })
    return answer
  } catch (error) {
    metrics.portage_intake_refused_total.inc({ via: 'api', bridge, code: toRelayerError(error).code })
    throw error
  }
}
