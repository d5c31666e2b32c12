import { AbiCoder, concat } from 'ethers'
import type { FeeQuote } from '../../../domain/fees/fees.ts'
import type { Intent } from '../../../domain/intent.ts'
import { type Chain, currentHead, type HeadSource, oncePerHead } from '../../port.ts'
import { buildTransaction } from '../transactions/build.ts'
import { toDecimal, toList, toNumber, toQuantity, toRecord } from '../hex.ts'
import { RpcError } from '../nodes/node-errors.ts'
import type { Nodes } from '../nodes/nodes.ts'

/** chainlink-evm's defaults for Ethereum: history of 4 blocks, percentile 50; tip at least 1 wei. */
const defaults = { blocks: 4, percentile: 50 }
const leastTip = 1n

/** Gas of a transfer of nothing to oneself on the EVM; Arbitrum's gas counts its data fee too (OpenZeppelin's relayer: floor of 50,000). */
const noopGas = 21_000
const leastArbitrumNoopGas = 50_000

/** GasPriceOracle, predeployed at this address on every OP stack chain (ethereum-optimism: packages/contracts-bedrock, Predeploys.sol). */
const gasPriceOracle = '0x420000000000000000000000000000000000000f'
/** `getL1Fee(bytes)`: wei for an unsigned serialised transaction; the contract adds the room of the signature itself. */
const getL1Fee = '0x49948e0e'

/** The fee moves with those of the network below: half as much again outlasts three of its blocks at their fastest rise (an eighth each). */
const roomPercent = 150n

/** Fields that only make the transaction as long as a real one: a nonce, a gas limit and fees of common size. */
const stuffing = { nonce: 1_000_000, gasLimit: '1000000', maxFee: '100000000000', tip: '1000000001' }

/** How a network charges for a transaction, see `chains.<name>.feeModel` in the config. */
type FeeModel = 'ethereum' | 'op-stack' | 'arbitrum'

export interface FeeModelOptions {
  /** How the network charges; absent: ethereum. */
  readonly feeModel?: FeeModel | undefined
  /** Blocks of eth_feeHistory, and which percentile of their tips; absent: 4 and 50. */
  readonly feeHistory?: { readonly blocks: number; readonly percentile: number } | undefined
}

/** The market, read once per head: EIP-1559 where blocks have a base fee, else the legacy gas price. And what L2s charge in other ways. */
export function createFees(
  chain: HeadSource & Pick<Chain, 'networkId'>,
  nodes: Nodes,
  { feeModel = 'ethereum', feeHistory = defaults }: FeeModelOptions,
): Pick<Chain, 'quote' | 'dataFee' | 'raises' | 'noopGas'> {
  async function readQuote(): Promise<FeeQuote> {
    const { baseFee } = currentHead(chain).latest
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
      return readFeeHistory(await nodes.request('eth_feeHistory', [toQuantity(feeHistory.blocks), 'latest', [feeHistory.percentile]]))
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      // Not every node serves eth_feeHistory; eth_gasPrice is base fee + tip on such chains.
      const price = BigInt(toDecimal(await nodes.request('eth_gasPrice', []), 'gas price'))
      return { next: baseFee, tip: price > baseFee ? price - baseFee : leastTip }
    }
  }

  return {
    raises: feeModel !== 'arbitrum',
    dataFee: feeModel === 'op-stack' ? (call) => readOpStackDataFee(chain.networkId, nodes, call) : async () => '0',
    async noopGas(address) {
      if (feeModel !== 'arbitrum') return String(noopGas)
      const noop = { from: address, to: address, value: '0x0' }
      const estimate = toNumber(await nodes.request('eth_estimateGas', [noop]), 'gas estimate')
      return String(Math.max(leastArbitrumNoopGas, estimate))
    },
    quote: oncePerHead(chain, readQuote),
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

/** What an OP stack chain charges for a call's data. An estimate with room, wei. Throws NODE_REFUSED if it has no oracle, NODE_UNAVAILABLE. */
async function readOpStackDataFee(networkId: string, nodes: Nodes, { to, data, value }: Intent): Promise<string> {
  const { unsignedSerialized } = buildTransaction({ networkId, to, data, value, ...stuffing })
  const input = concat([getL1Fee, AbiCoder.defaultAbiCoder().encode(['bytes'], [unsignedSerialized])])
  const fee = toDecimal(await nodes.request('eth_call', [{ to: gasPriceOracle, data: input }, 'latest']), 'data fee')
  return String((BigInt(fee) * roomPercent + 99n) / 100n)
}
