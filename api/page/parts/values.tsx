import type { ComponentChildren } from 'preact'
import { ageText, agoText } from '../../../domain/text/age.ts'
import { useNow } from '../data/clock.ts'
import { coinsText } from '../format/amounts.ts'
import { shortTransfer } from '../format/ids.ts'
import { safeUrl } from '../format/links.ts'
import { clockText, timeOf } from '../format/time.ts'

export function Ago({ at, bare }: { readonly at: string | number | undefined; readonly bare?: boolean }) {
  const time = timeOf(at)
  const now = useNow()
  if (time === undefined) return <>–</>
  return (
    <time dateTime={new Date(time).toISOString()} title={clockText(time)}>
      {bare ? ageText(now - time) : agoText(now - time)}
    </time>
  )
}

export function Clock({ at }: { readonly at: string | number | undefined }) {
  const time = timeOf(at)
  if (time === undefined) return <span class="figure">–</span>
  return (
    <time dateTime={new Date(time).toISOString()} class="figure">
      {clockText(time)}
    </time>
  )
}

interface SinceProps {
  readonly word: string
  readonly at: string | number | undefined
  readonly class?: string
}

export function Since({ word, at, class: style }: SinceProps) {
  if (at === undefined) return null
  return (
    <span class={style}>
      {word} <Ago at={at} />
    </span>
  )
}

export function Reason({ children }: { readonly children: ComponentChildren }) {
  return children ? <span class="reason">{children}</span> : null
}

export function Coins({ wei, coin }: { readonly wei: string | undefined; readonly coin: string | undefined }) {
  const text = coinsText(wei, coin)
  return text === '' ? <>–</> : <span title={`${wei} wei`}>{text}</span>
}

export function Out({ to, children }: { readonly to: string | undefined; readonly children: ComponentChildren }) {
  const href = safeUrl(to)
  if (href === undefined) return <span>{children}</span>
  return (
    <a class="out" href={href} target="_blank" rel="noopener noreferrer">
      {children}
      <span class="quiet"> (opens another site)</span>
    </a>
  )
}

export function transferHref(id: string): string {
  return `#/transfer/${encodeURIComponent(id)}`
}

export function TransferLink({ id }: { readonly id: string }) {
  if (!id.includes(':')) return <span class="mono">{id}</span>
  return (
    <a class="mono" href={transferHref(id)} title={id}>
      {shortTransfer(id)}
    </a>
  )
}

interface DetailProps {
  readonly name: string
  readonly children: ComponentChildren
}

export function Detail({ name, children }: DetailProps) {
  if (!children) return null
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

export function IdDetail({ name, children }: DetailProps) {
  return <Detail name={name}>{children && <span class="mono wrap">{children}</span>}</Detail>
}
