import type { FastifyRequest } from 'fastify'
import { aboutTransfer } from '../operations/access/subjects.ts'
import type { Bridges } from '../bridges/port.ts'
import { RelayerError, toRelayerError } from '../domain/catalogue/errors.ts'
import type { SubmitOptions, SubmitResult } from '../intake/submit/submitter.ts'
import { orderedBy } from './access.ts'
import type { ApiDeps } from './deps.ts'

/** The first bridge, for a request that names none. Throws INPUT_INVALID without a bridge. */
export function defaultBridge(bridges: Bridges): string {
  const [first] = bridges.keys()
  if (first === undefined) throw new RelayerError('INPUT_INVALID', { detail: 'No bridge is configured.' })
  return first
}

interface Submission extends Pick<SubmitOptions, 'priority' | 'deadline'> {
  readonly bridge: string
  readonly message: Uint8Array
  /** Absent: `handed in`. */
  readonly reason?: string | undefined
}

/** Submits and counts a message under the token's name. Throws INPUT_INVALID, ACCESS_SCOPE, and as the submitter. */
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
