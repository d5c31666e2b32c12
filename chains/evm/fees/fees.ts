import { AbiCoder, concat } from 'ethers'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { FeeQuote } from '../../../domain/fees/fees.ts'
import type { Intent } from '../../../domain/lane/lane.ts'
import { currentHead, type HeadSource, medianOf, oncePerHead } from '../../heads.ts'
import type { Chain } from '../../port.ts'
import { encodeTransaction } from '../transactions/encode.ts'
import { toDecimal, toHash, toList, toNumber, toQuantity, toRecord } from '../hex.ts'
import { createPlausible } from '../plausible.ts'
import { noAnswer, type Nodes, resultsOf } from '../nodes/nodes.ts'
import { isVerdict, type ReadAnswer } from '../nodes/node-errors.ts'

/** Defaults of chainlink-evm for Ethereum. `leastTip` is in wei. */
const defaults = { blocks: 4, percentile: 50 }
const leastTip = 1n

/** Gas of a no-op. Arbitrum's gas includes the data fee, so OpenZeppelin's relayer uses at least 50,000 there. */
const noopGas = 21_000
const leastArbitrumNoopGas = 50_000

/** The GasPriceOracle of OP stack chains (ethereum-optimism, Predeploys.sol). */
const gasPriceOracle = '0x420000000000000000000000000000000000000f'
/** `getL1Fee(bytes)` takes an unsigned serialised transaction, adds the size of the signature, and returns wei. */
const getL1Fee = '0x49948e0e'

/** The L1 base fee rises by at most 1/8 per block, so 150 % suffices for three L1 blocks. */
const roomPercent = 150n

/**
 * Typical values of the fields that a call does not have, because the data fee depends on the size of the whole
 * transaction.
 */
const stuffing = { nonce: 1_000_000, gasLimit: '1000000', maxFee: '100000000000', tip: '1000000001' }

export interface FeeModelOptions {
  readonly feeModel?: 'ethereum' | 'op-stack' | 'arbitrum' | undefined
  readonly feeHistory?: { readonly blocks: number; readonly percentile: number } | undefined
}

const graceMs = 500

/** Base fee of the next block, and tip, wei per gas. */
interface Price {
  readonly next: bigint
  readonly tip: bigint
}

interface Market extends Price {
  readonly baseFees: readonly bigint[]
}

/** Reads fees once per head, as the median of the nodes' answers, and the data fees of L2s. */
export function createFees(
  chain: HeadSource & Pick<Chain, 'networkId'>,
  nodes: Nodes,
  { feeModel = 'ethereum', feeHistory = defaults }: FeeModelOptions,
): Pick<Chain, 'quote' | 'dataFee' | 'raises' | 'noopGas'> {
  const usual = createUsualFees()

  async function readQuote(): Promise<FeeQuote> {
    const { baseFee } = currentHead(chain).latest
    if (baseFee === undefined) {
      const price = await readPrice()
      usual.note(price)
      return { maxFee: String(price), tip: String(price), cap: String(usual.cap()) }
    }
    const { next, tip } = await readMarket(BigInt(baseFee))
    usual.note(BigInt(baseFee))
    // Twice the base fee suffices for six full blocks, because each full block raises the base fee by at most 1/8.
    return { baseFee: String(next), tip: String(tip), maxFee: String(2n * next + tip), cap: String(usual.cap()) }
  }

  async function readMarket(baseFee: bigint): Promise<Price> {
    const first = usual.isSeeded() ? undefined : await readHistory(baseFee)
    return first ?? middleOf(await readMarkets(feeHistory.blocks), baseFee) ?? (await marketByPrice(baseFee))
  }

  /** Returns the price, and seeds the usual fee with a long history. Undefined if too few nodes answer. */
  async function readHistory(baseFee: bigint): Promise<Price | undefined> {
    const markets = await readMarkets(historyBlocks)
    const enough = markets.length >= nodes.needed
    const middle = enough ? medianOf(markets.flatMap(({ baseFees }) => medianOf(baseFees) ?? [])) : undefined
    usual.seed(markets.find(({ baseFees }) => medianOf(baseFees) === middle)?.baseFees ?? [baseFee])
    return enough ? middleOf(markets, baseFee) : undefined
  }

  async function readMarkets(blocks: number): Promise<readonly Market[]> {
    const read = (value: unknown) => readFeeHistory(value, feeHistory.blocks)
    const answers = await nodes.askAll('eth_feeHistory', [toQuantity(blocks), 'latest', [feeHistory.percentile]], read, undefined, graceMs)
    return resultsOf(answers)
  }

  async function marketByPrice(baseFee: bigint): Promise<Price> {
    const price = await readPrice()
    return { next: baseFee, tip: price > baseFee ? price - baseFee : leastTip }
  }

  const readPrice = () => readMedian('eth_gasPrice', [], (value) => BigInt(toDecimal(value, 'gas price')))

  async function readMedian<T extends number | bigint>(method: string, params: readonly unknown[], read: ReadAnswer<T>): Promise<T> {
    const answers = await nodes.askAll(method, params, read, undefined, graceMs)
    const middle = medianOf(resultsOf(answers))
    if (middle === undefined) throw noAnswer(chain.name, answers)
    return middle
  }

  return {
    raises: feeModel !== 'arbitrum',
    dataFee: feeModel === 'op-stack' ? createDataFee(chain, nodes) : async () => '0',
    async noopGas(address) {
      if (feeModel !== 'arbitrum') return String(noopGas)
      const noop = { from: address, to: address, value: '0x0' }
      const estimate = await readMedian('eth_estimateGas', [noop], (value) => toNumber(value, 'gas estimate'))
      return String(Math.max(leastArbitrumNoopGas, estimate))
    },
    quote: oncePerHead(chain, readQuote),
  }
}

/**
 * Returns the medians of the nodes' answers. Keeps the next base fee between half and twice `baseFee`, because no chain
 * changes its base fee by more in one block.
 */
function middleOf(markets: readonly Market[], baseFee: bigint): Price | undefined {
  const next = medianOf(markets.map((market) => market.next))
  const tip = medianOf(markets.map((market) => market.tip))
  if (next === undefined || tip === undefined) return undefined
  const most = 2n * baseFee + 1n
  return { next: next > most ? most : next < baseFee / 2n ? baseFee / 2n : next, tip }
}

/** Ignores the tips of empty blocks. Throws NODE_REFUSED. */
export function readFeeHistory(value: unknown, blocks: number): Market {
  const raw = toRecord(value, 'fee history')
  const baseFees = toList(raw['baseFeePerGas'], 'base fees').map((fee) => BigInt(toDecimal(fee, 'base fee')))
  const next = baseFees.at(-1)
  if (next === undefined) throw new RelayerError('NODE_REFUSED', { detail: "The node's answer has no base fee." })
  const lastOf = (list: unknown): readonly unknown[] => (Array.isArray(list) ? list.slice(-blocks) : [])
  const used = lastOf(raw['gasUsedRatio'])
  const tips = lastOf(raw['reward'])
    .flatMap((row, index) => (used[index] === 0 || !Array.isArray(row) ? [] : [BigInt(toDecimal(row[0], 'tip'))]))
    .sort((a, b) => (a < b ? -1 : 1))
  const median = tips[Math.floor(tips.length / 2)] ?? leastTip
  return { next, tip: median > leastTip ? median : leastTip, baseFees }
}

const plausibleDataFee = { lowest: 0.5, highest: 2 }

/**
 * Asks one node. Asks all nodes if this node reports a revert, or a fee per byte far from the last agreed one. Without
 * a majority, the last agreed fee per byte counts.
 */
function createDataFee(chain: HeadSource & Pick<Chain, 'networkId'>, nodes: Nodes) {
  const known = createPlausible(plausibleDataFee)
  let last: number | undefined
  return async function dataFee(call: Intent): Promise<string> {
    const params = [oracleCall(chain.networkId, call), 'latest']
    let failure: unknown
    const own = await nodes.request('eth_call', params, readDataFee).catch((error: unknown) => void (failure = error))
    const isLike = own !== undefined && known.has('byte', perByte(own, call))
    if (own !== undefined && (nodes.readers < 2 || isLike)) return withRoom(own)
    const isOne = nodes.readers > 1 && (own !== undefined || isVerdict(failure))
    const answers = isOne ? await nodes.askAll('eth_call', params, readDataFee, undefined, graceMs) : []
    const said = resultsOf(answers)
    const fee = medianOf(said) ?? own
    known.forget('byte')
    if (fee !== undefined && said.length >= nodes.needed) {
      last = perByte(fee, call)
      known.agreed('byte', last)
      return withRoom(fee)
    }
    if (last !== undefined) return withRoom(BigInt(Math.ceil(last * sizeOf(call))))
    const failed = answers.filter((answer) => !answer.ok && isVerdict(answer.error)).length
    if (fee === undefined || failed >= nodes.needed) throw failure instanceof Error ? failure : noAnswer(chain.name, answers)
    return withRoom(fee)
  }
}

const sizeOf = ({ data }: Intent) => data.length / 2 + 100
const perByte = (fee: bigint, call: Intent) => Number(fee) / sizeOf(call)
const readDataFee = (value: unknown) => BigInt(toHash(value, 'data fee'))
const withRoom = (fee: bigint) => String((fee * roomPercent + 99n) / 100n)

function oracleCall(networkId: string, { to, data, value }: Intent) {
  const { unsigned } = encodeTransaction({ networkId, to, data, value, ...stuffing })
  return { to: gasPriceOracle, data: concat([getL1Fee, AbiCoder.defaultAbiCoder().encode(['bytes'], [unsigned])]) }
}

const gwei = 10n ** 9n

/** The largest history that go-ethereum returns with tips (maxBlockHistory). */
const historyBlocks = 1_024
/** At this interval (ms), 1,024 samples cover almost three hours. */
const sampleEveryMs = 10_000
const mostSamples = 1_024

/**
 * The cap of fees is `absolute` (wei per gas) plus `factor` times the usual fee. `factor` is high, because Ethereum's
 * fee once rose 20-fold in 3 hours.
 */
const absolute = 50n * gwei
const factor = 20n

function createUsualFees() {
  let samples: bigint[] = []
  let sampledAt = -Infinity
  return {
    isSeeded: () => samples.length > 0,
    seed(baseFees: readonly bigint[]): void {
      samples = baseFees.slice(-mostSamples)
    },
    note(wei: bigint): void {
      if (performance.now() - sampledAt < sampleEveryMs) return
      sampledAt = performance.now()
      samples = [...samples, wei].slice(-mostSamples)
    },
    cap: () => absolute + factor * (medianOf(samples) ?? 0n),
  }
}
