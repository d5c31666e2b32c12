import type { ComponentChildren } from 'preact'
import { safeUrl } from '../format/links.ts'
import { shortTransfer } from '../format/ids.ts'

/** A link out of the page, in a tab of its own; the text alone where the address is none that may be linked to. */
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

/** The place of a transfer in this page. */
export function transferHref(id: string): string {
  return `#/transfer/${encodeURIComponent(id)}`
}

/** A transfer, by the part of its id that tells it from others. What is no id, as the number of a stream that has no transfer yet, leads nowhere. */
export function TransferLink({ id }: { readonly id: string }) {
  if (!id.includes(':')) return <span class="mono">{id}</span>
  return (
    <a class="mono" href={transferHref(id)} title={id}>
      {shortTransfer(id)}
    </a>
  )
}
