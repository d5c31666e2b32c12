import type { Bridges, PlacedTransfer, Source } from '../../bridges/port.ts'
import type { Chain, Receipt } from '../../chains/port.ts'
import type { ChainName, Transfer } from '../../domain/transfer/transfer.ts'
import type { MessagePlace } from '../../temporal/client/transfers/resolve-transfer.ts'

type Chains = ReadonlyMap<ChainName, Pick<Chain, 'receipt'>>

/**
 * The messages that a transaction published, for display only. Leaves out messages for which no node answers. Never
 * throws.
 */
export async function placesOfTransaction(bridges: Bridges, chains: Chains, txHash: string): Promise<readonly MessagePlace[]> {
  const sources = [...bridges.values()].flatMap((bridge) => bridge.sources)
  const names = [...new Set(sources.map(({ sourceChain }) => sourceChain))]
  const found = names.map(async (name) => {
    const receipt = await chains
      .get(name)
      ?.receipt(txHash)
      .catch(() => undefined)
    if (!receipt) return []
    const own = sources.filter(({ sourceChain }) => sourceChain === name)
    return (await Promise.all(own.map((source) => messagesIn(source, receipt).catch(() => [])))).flat()
  })
  return (await Promise.all(found)).flat()
}

async function messagesIn(source: Source, receipt: Receipt): Promise<readonly MessagePlace[]> {
  const range = { fromBlock: receipt.block.height, toBlock: receipt.block.height }
  const words = wordsOf(receipt)
  if (source.kind !== 'signed') {
    const isOwn = ({ transfer: { digest }, txHash }: PlacedTransfer) =>
      source.kind === 'scanned' ? words.has(digitsOf(digest)) : txHash === receipt.hash
    return (await source.initiated(range)).filter(isOwn).map(({ transfer }) => placeOf(transfer))
  }
  const published = await source.published(range, (number) => words.has(wordOf(number)))
  const own = published.filter(({ number }) => words.has(wordOf(number)))
  return own.flatMap(({ content }) => (content?.kind === 'transfer' ? [placeOf(content.transfer)] : []))
}

function placeOf({ bridge, sourceId, emitter, sequence }: Omit<Transfer, 'message'>): MessagePlace {
  return { bridge, sourceId, emitter, sequence }
}

function wordsOf({ logs }: Receipt): ReadonlySet<string> {
  return new Set(logs.flatMap(({ topics, data }) => [...topics.map(digitsOf), digitsOf(data).slice(0, 64)]))
}

function digitsOf(hex: string): string {
  return hex.replace(/^0x/i, '').toLowerCase()
}

function wordOf(number: string): string {
  return BigInt(number).toString(16).padStart(64, '0')
}
