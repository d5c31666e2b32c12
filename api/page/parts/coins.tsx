import { coinsText } from '../format/amounts.ts'

/** An amount of coins. Its tooltip has every wei. */
export function Coins({ wei, coin }: { readonly wei: string | undefined; readonly coin: string | undefined }) {
  const text = coinsText(wei, coin)
  return text === '' ? <>–</> : <span title={`${wei} wei`}>{text}</span>
}
