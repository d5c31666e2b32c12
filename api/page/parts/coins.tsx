import { coinsText } from '../format/amounts.ts'

/** The tooltip has every wei. */
export function Coins({ wei, coin }: { readonly wei: string | undefined; readonly coin: string | undefined }) {
  const text = coinsText(wei, coin)
  return text === '' ? <>–</> : <span title={`${wei} wei`}>{text}</span>
}
