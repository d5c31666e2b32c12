import { catalogue } from '../../../domain/catalogue/catalogue.ts'
import type { TemporalAccess } from '../../../domain/temporal-access.ts'

export function payloadExposure({ address, encryption }: TemporalAccess) {
  if (encryption || /^(127\.|localhost:|\[::1\])/.test(address)) return undefined
  const readers = `anyone with access to ${address}, its database or a copy`
  return exposure('PAYLOADS_PLAIN', `payloads are not encrypted: ${readers} can read every transfer and every order`)
}

export function connectionExposure({ address, tls, apiKey, headers }: TemporalAccess) {
  const named = apiKey !== undefined || headers !== undefined
  if (!tls && named) return exposure('TEMPORAL_OPEN', `the API key goes to ${address} in plain text: anyone on the network can use it`)
  if (tls && (named || tls.certificate)) return undefined
  const how = `${tls ? '' : ' in plain text and'} without a client certificate or API key`
  const readers = `anyone who reaches ${address} can read all transfers, and give orders under any name`
  return exposure('TEMPORAL_OPEN', `Temporal is reached${how}; ${readers}`)
}

function exposure(code: 'TEMPORAL_OPEN' | 'PAYLOADS_PLAIN', what: string) {
  return { code, what, remedy: catalogue[code].remedy }
}
