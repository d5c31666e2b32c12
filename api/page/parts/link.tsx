import type { ComponentChildren } from 'preact'
import { safeUrl } from '../format/links.ts'
import { shortTransfer } from '../format/ids.ts'

/** Opens a new tab. Text alone if the address is not allowed as a link. */
export function Out({
  to,
  children,
  title,
}: {
  readonly to: string | undefined
  readonly children: ComponentChildren
  readonly title?: string
}) {
  const href = safeUrl(to)
  if (href === undefined) return <span title={title}>{children}</span>
  return (
    <a class="out" href={href} title={title} target="_blank" rel="noopener noreferrer">
      {children}
      <span class="quiet"> (opens another site)</span>
    </a>
  )
}

export function transferHref(id: string): string {
  return `#/transfer/${encodeURIComponent(id)}`
}

/** Text without a link for other ids, such as the number of a stream. */
export function TransferLink({ id }: { readonly id: string }) {
  if (!id.includes(':')) return <span class="mono">{id}</span>
  return (
    <a class="mono" href={transferHref(id)} title={id}>
      {shortTransfer(id)}
    </a>
  )
}
