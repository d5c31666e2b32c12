import { catalogue } from '../../../domain/catalogue/catalogue.ts'
import type { TemporalAccess } from '../../../domain/temporal-access.ts'

export interface Exposure {
  readonly code: 'TEMPORAL_OPEN' | 'PAYLOADS_PLAIN'
  readonly what: string
  readonly remedy: string
}

/** Warns of plain payloads that others can read. Undefined: encrypted, or they stay on this machine. */
export function payloadExposure({ address, encryption }: TemporalAccess): Exposure | undefined {
  if (encryption || /^(127\.|localhost:|\[::1\])/.test(address)) return undefined
  return {
    what: `payloads are not encrypted: anyone with access to ${address}, its database or a copy can read every transfer and every order`,
    code: 'PAYLOADS_PLAIN',
    remedy: catalogue.PAYLOADS_PLAIN.remedy,
  }
}

const isOpen = { code: 'TEMPORAL_OPEN', remedy: catalogue.TEMPORAL_OPEN.remedy } as const

/** Warns of a connection that others can read or use. Undefined: it is protected. */
export function connectionExposure({ address, tls, apiKey, headers }: TemporalAccess): Exposure | undefined {
  const named = apiKey !== undefined || headers !== undefined
  if (!tls && named) {
    return { what: `the API key goes to ${address} in plain text: anyone on the network can use it`, ...isOpen }
  }
  if (tls && (named || tls.certificate)) return undefined
  const plain = tls ? '' : ' in plain text and'
  return {
    what: `Temporal is reached${plain} without a client certificate or API key; anyone who reaches ${address} can read all transfers, and give orders under any name`,
    ...isOpen,
  }
}
