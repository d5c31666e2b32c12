import { catalogue } from '../../../domain/catalogue/catalogue.ts'
import type { TemporalAccess } from '../../../domain/temporal-access.ts'

/** What is open about the way to Temporal, and what to do. */
export interface Exposure {
  readonly code: 'TEMPORAL_OPEN' | 'PAYLOADS_PLAIN'
  readonly what: string
  readonly remedy: string
}

/**
 * What somebody can read who has Temporal's database, a copy of it, or its network; undefined: nothing, or nobody but
 * this machine has it.
 */
export function payloadExposure({ address, encryption }: TemporalAccess): Exposure | undefined {
  if (encryption || /^(127\.|localhost:|\[::1\])/.test(address)) return undefined
  return {
    what: `payloads are not encrypted: who keeps ${address}, its database or a copy of it reads every transfer, and every order with its name and reason`,
    code: 'PAYLOADS_PLAIN',
    remedy: catalogue.PAYLOADS_PLAIN.remedy,
  }
}

const isOpen = { code: 'TEMPORAL_OPEN', remedy: catalogue.TEMPORAL_OPEN.remedy } as const

/**
 * What somebody can do because of how Temporal is reached: nothing (undefined), read along, or everything that
 * Portage's orders can.
 */
export function connectionExposure({ address, tls, apiKey, headers }: TemporalAccess): Exposure | undefined {
  const named = apiKey !== undefined || headers !== undefined
  if (!tls && named) {
    return { what: `the API key goes to ${address} in plain text: who sees the network can use it`, ...isOpen }
  }
  if (tls && (named || tls.certificate)) return undefined
  const plain = tls ? '' : ' in plain text and'
  return {
    what: `Temporal is reached${plain} without a client certificate or API key; whoever reaches ${address} can read all transfers, and pause, cancel and order in anybody's name`,
    ...isOpen,
  }
}
