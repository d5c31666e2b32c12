import { forms, isLink, isOf } from '../../../domain/text/forms.ts'
import { trimEnd } from '../../../domain/text/trim-end.ts'
import type { Links } from '../../answers.ts'

/** Accepts https, and http to this machine. Returns undefined for other URLs, such as `javascript:`. */
export function safeUrl(text: string | undefined): string | undefined {
  return isLink(text) ? new URL(text).href : undefined
}

export function transactionUrl(links: Links | undefined, chain: string | undefined, hash: string | undefined): string | undefined {
  return isOf(forms.hash, hash) ? inExplorer(links, chain, `tx/${hash}`) : undefined
}

export function accountUrl(links: Links | undefined, chain: string | undefined, address: string | undefined): string | undefined {
  return isOf(forms.address, address) ? inExplorer(links, chain, `address/${address}`) : undefined
}

export function coinOfChain(links: Links | undefined, chain: string | undefined): string | undefined {
  return chainIn(links, chain)?.coin
}

function inExplorer(links: Links | undefined, chain: string | undefined, path: string): string | undefined {
  const base = chainIn(links, chain)?.explorer
  return base && safeUrl(`${trimEnd(base, '/')}/${path}`)
}

function chainIn(links: Links | undefined, chain: string | undefined): Links['chains'][string] | undefined {
  return links && chain !== undefined && Object.hasOwn(links.chains, chain) ? links.chains[chain] : undefined
}

export function workflowUrl(links: Links | undefined, id: string): string | undefined {
  const base = links?.temporalWebUi
  if (!links || !base) return undefined
  return safeUrl(`${trimEnd(base, '/')}/namespaces/${encodeURIComponent(links.namespace)}/workflows/${encodeURIComponent(id)}`)
}
