import type { Bridges } from '../bridges/port.ts'
import { RelayerError, toRelayerError } from '../domain/errors.ts'
import type { SubmitOptions, SubmitResult } from '../intake/submitter.ts'
import type { ApiDeps } from './deps.ts'

/** The bridge of a request that names none: the first one. Throws INPUT_INVALID if there is none. */
export function defaultBridge(bridges: Bridges): string {
  const [first] = bridges.keys()
  if (first === undefined) throw new RelayerError('INPUT_INVALID', { detail: 'No bridge is configured.' })
  return first
}

/** Submits a message and counts it. Throws INPUT_INVALID for a bridge that is not configured, and as the submitter. */
export async function submit(
  deps: Pick<ApiDeps, 'submitter' | 'bridges' | 'metrics'>,
  bridge: string,
  message: Uint8Array,
  options?: SubmitOptions,
): Promise<SubmitResult> {
  if (!deps.bridges.has(bridge)) {
    throw new RelayerError('INPUT_INVALID', { detail: `There is no bridge ${bridge}; configured: ${[...deps.bridges.keys()].join(', ')}.` })
  }
  deps.metrics.portage_intake_messages_total.inc({ via: 'api', bridge })
  try {
    const answer = await deps.submitter.submit(bridge, message, options)
    deps.metrics.portage_intake_started_total.inc({ via: 'api', bridge, status: answer.status })
    return answer
  } catch (error) {
    deps.metrics.portage_intake_refused_total.inc({ via: 'api', bridge, code: toRelayerError(error).code })
    throw error
  }
}
