import type { TemporalAccess } from '../../domain/temporal-access.ts'

/** What is open about the way to Temporal, and what to do. */
export interface Openness {
  readonly what: string
  readonly remedy: string
}

const remedy = 'docs/operating.md, "Temporal: who may reach it".'

/** What somebody can do because of how Temporal is reached: nothing (undefined), read along, or everything that Portage's orders can. */
export function openness({ address, tls, apiKey, headers }: TemporalAccess): Openness | undefined {
  const named = apiKey !== undefined || headers !== undefined
  if (!tls && named) {
    return { what: `the API key goes to ${address} in plain text: who sees the network can use it`, remedy }
  }
  if (tls && (named || tls.certificate)) return undefined
  const plain = tls ? '' : ' in plain text and'
  return {
    what: `Temporal is reached${plain} without a client certificate or API key: whoever reaches ${address} can read all transfers, and pause, cancel and order in anybody's name`,
    remedy,
  }
}
