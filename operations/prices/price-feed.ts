import { readFile, stat } from 'node:fs/promises'
import type { ContractReader } from '../../bridges/kit/contract-reader.ts'
import { type Price, readOracle } from '../../bridges/kit/oracle.ts'
import type { PriceOf } from '../../bridges/port.ts'
import { readPrices } from '../../config/prices.ts'
import type { Config } from '../../config/schema/schema.ts'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import { httpText } from '../../intake/submit/http.ts'
import { boundedMap } from '../../runtime/bounded-map.ts'
import { keptRead } from '../../runtime/shared-read.ts'
import { within } from '../../runtime/wait.ts'

type Feed = NonNullable<Config['priceFeed']>
type Source = Feed['sources'][number]

interface Answer {
  readonly prices: ReadonlyMap<string, Price>
  /** Why prices are missing. */
  readonly problem?: string
}

interface FeedDeps {
  /**
   * Price that the config expects. `mostChangePercent` limits the difference between the feed's price and this price.
   */
  readonly expected: (name: string) => bigint | undefined
  /** Reads a chain with oracles. Undefined if this process is not connected to the chain. */
  readonly readerOf: (chain: ChainName) => ContractReader | undefined
  readonly now?: () => number
}

const mostBytes = 65_536
/**
 * Maximum number of prices kept per source, because a source may answer with new names each time. An answer of
 * `mostBytes` has fewer prices, so all prices of an answer are kept.
 */
const mostNames = 10_000
const timeoutMs = 5_000
/**
 * ms. If more than half of the sources have a current price, a request for a price waits at most this long for the
 * others.
 */
const graceMs = 500
/** A source's prices may have a time this far in the future, because clocks differ. */
const mostAheadSeconds = 60

/** Makes the prices of coins and tokens: the median of the sources. */
export function createPriceFeed(
  { sources, everySeconds, mostChangePercent }: Feed,
  { expected, readerOf, now = Date.now }: FeedDeps,
): PriceOf {
  const latest = new Map(sources.map((source) => [source, boundedMap<string, Price>(mostNames)]))
  const problems = new Map<Source, string | undefined>()
  const update = async (source: Source) => {
    const { prices, problem } = await ask(source, readerOf)
    const [known, latestAt] = [latest.get(source), now() / 1_000 + mostAheadSeconds]
    const isAhead = [...prices.values()].some(({ at }) => at > latestAt)
    problems.set(source, isAhead ? 'a price is ahead of the clock' : problem)
    // A source may answer with an older copy, which must not replace a newer one. A price from the future would keep
    // out all later prices.
    for (const [name, price] of prices) if (price.at <= latestAt && price.at >= (known?.get(name)?.at ?? 0)) known?.set(name, price)
  }
  const refresh = keptRead(
    async () => {
      const reading = Promise.all(sources.map(update)).then(() => {})
      return { reading, soon: within(graceMs, reading, () => {}) }
    },
    { fromStart: everySeconds * 1_000 },
  )

  function priceIn(source: Source, name: string): bigint | string {
    const price = latest.get(source)?.get(name)
    const problem = problems.get(source)
    if (!price) return problem ?? 'it has no price'
    const age = Math.floor(now() / 1_000) - price.at
    return age > source.maxAgeSeconds ? `its price is ${age} s old${problem === undefined ? '' : `, and now: ${problem}`}` : price.dollars
  }

  function pricesOf(name: string) {
    const answers = sources.map((source) => [source, priceIn(source, name)] as const)
    const good = answers.flatMap(([, answer]) => (typeof answer === 'bigint' ? [answer] : []))
    return { answers, good, isEnough: good.length * 2 > sources.length }
  }

  return async (name, end) => {
    const { reading, soon } = await refresh()
    await soon
    if (!pricesOf(name).isEnough) await reading
    const refuse = (detail: string) => new RelayerError('PRICE_MISSING', { detail, facts: { name } })
    const { answers, good, isEnough } = pricesOf(name)
    if (!isEnough)
      throw refuse(answers.flatMap(([source, answer]) => (typeof answer === 'string' ? [`${nameOf(source)}: ${answer}`] : [])).join('; '))
    const price = median(good, end)
    const usual = expected(name)
    if (usual === undefined) return price
    const most = 100n + BigInt(mostChangePercent)
    if (price * 100n <= usual * most && price * most >= usual * 100n) return price
    throw refuse(`The price is more than ${mostChangePercent} % from the price of the config.`)
  }
}

/** Asks one source. The reason for missing prices leaves out the path of a URL, which may contain a key. */
async function ask(source: Source, readerOf: FeedDeps['readerOf']): Promise<Answer> {
  if (source.kind === 'oracle') return askOracles(source, readerOf(source.chain))
  const answer = source.kind === 'http' ? await httpText(new URL(source.url), { timeoutMs, mostBytes }) : await readBounded(source.path)
  const without = (problem: string) => ({ prices: new Map<string, Price>(), problem })
  if (answer.kind !== 'found') return without(answer.kind === 'absent' ? 'not found' : answer.why)
  const found = readPrices(answer.body)
  if (!found) return without('no prices in the expected form')
  const { at, malformed } = found
  const prices = new Map([...found.dollars].map(([name, dollars]) => [name, { at, dollars }]))
  return { prices, ...(malformed.length > 0 && { problem: `prices in another form: ${malformed.join(', ').slice(0, 200)}` }) }
}

async function readBounded(path: string) {
  const file = await stat(path).catch(() => undefined)
  if (!file) return { kind: 'absent' } as const
  if (!file.isFile() || file.size > mostBytes) return { kind: 'failed', why: 'no file of at most 64 KiB' } as const
  return readFile(path, 'utf8').then(
    (body) => ({ kind: 'found', body }) as const,
    () => ({ kind: 'failed', why: 'it cannot be read' }) as const,
  )
}

async function askOracles({ feeds }: Extract<Source, { kind: 'oracle' }>, chain: ContractReader | undefined): Promise<Answer> {
  if (!chain) return { prices: new Map(), problem: 'this process is not connected to the chain' }
  const problems: string[] = []
  const readOne = async ([name, to]: readonly [string, string]): Promise<readonly (readonly [string, Price])[]> => {
    try {
      return [[name, await readOracle(chain, to)]]
    } catch (error) {
      problems.push(`${name}: ${toRelayerError(error).code}`)
    }
    return []
  }
  const found = (await Promise.all(Object.entries(feeds).map(readOne))).flat()
  return { prices: new Map(found), ...(problems.length > 0 && { problem: problems.join(', ') }) }
}

function nameOf(source: Source): string {
  if (source.kind === 'oracle') return `oracles on ${source.chain}`
  return source.kind === 'http' ? new URL(source.url).origin : source.path
}

function median(prices: readonly bigint[], end: 'source' | 'target'): bigint {
  const sorted = prices.toSorted((a, b) => (a < b ? -1 : 1))
  return sorted[Math.floor((sorted.length - (end === 'source' ? 1 : 0)) / 2)] ?? 0n
}
