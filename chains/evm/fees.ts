import type { FeeQuote } from '../../domain/fees.ts'
import { currentHead } from './accounts.ts'
import type { EvmHeads } from './heads.ts'
import { toDecimal, toList, toQuantity, toRecord } from './hex.ts'
import { RpcError } from './node-errors.ts'
import type { Nodes } from './nodes.ts'

/** chainlink-evm's default for Ethereum: history of 4 blocks, percentile 50; tip at least 1 wei. */
const blocks = 4
const percentile = 50
const leastTip = 1n

/** The market, read once per head. EIP-1559 where blocks have a base fee, else the legacy gas price. */
export function createFees(chain: string, nodes: Nodes, heads: EvmHeads): { quote(): Promise<FeeQuote> } {
  let head = ''
  let quote: Promise<FeeQuote> | undefined

  async function read(baseFee: string | undefined): Promise<FeeQuote> {
    if (baseFee === undefined) {
      const price = toDecimal(await nodes.request('eth_gasPrice', []), 'gas price')
      return { maxFee: price, tip: price }
    }
    const { next, tip } = await readHistory(BigInt(baseFee))
    // Twice the base fee outlasts six full blocks, each of which may raise it by an eighth.
    return { baseFee: String(next), tip: String(tip), maxFee: String(2n * next + tip) }
  }

  async function readHistory(baseFee: bigint): Promise<{ next: bigint; tip: bigint }> {
    try {
      return readFeeHistory(await nodes.request('eth_feeHistory', [toQuantity(blocks), 'latest', [percentile]]))
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      // Not every node serves eth_feeHistory; eth_gasPrice is base fee + tip on such chains.
      const price = BigInt(toDecimal(await nodes.request('eth_gasPrice', []), 'gas price'))
      return { next: baseFee, tip: price > baseFee ? price - baseFee : leastTip }
    }
  }

  return {
    async quote() {
      const { latest } = currentHead(chain, heads)
      if (quote && head === latest.hash) return quote
      head = latest.hash
      const reading = read(latest.baseFee)
      quote = reading
      reading.catch(() => {
        if (quote === reading) quote = undefined
      })
      return reading
    },
  }
}

/** The next block's base fee and the median tip of the blocks that had transactions. Throws NODE_REFUSED. */
export function readFeeHistory(value: unknown): { next: bigint; tip: bigint } {
  const raw = toRecord(value, 'fee history')
  const baseFees = toList(raw['baseFeePerGas'], 'base fees')
  const next = BigInt(toDecimal(baseFees.at(-1), 'base fee'))
  const used = Array.isArray(raw['gasUsedRatio']) ? raw['gasUsedRatio'] : []
  const rewards = Array.isArray(raw['reward']) ? raw['reward'] : []
  const tips = rewards
    .flatMap((row, index) => (used[index] === 0 || !Array.isArray(row) ? [] : [BigInt(toDecimal(row[0], 'tip'))]))
    .sort((a, b) => (a < b ? -1 : 1))
  const median = tips[Math.floor(tips.length / 2)] ?? leastTip
  return { next, tip: median > leastTip ? median : leastTip }
}
