import { readFile, stat } from 'node:fs/promises'
import type { ProviderOptions } from '../../bridges/executor/provider.ts'
import { type CoinPrices, type ExecutorSettings, readPrices } from '../../config/executor.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import { httpText } from '../../intake/submit/http.ts'
import { keptRead } from '../../runtime/shared-read.ts'

type Feed = NonNullable<ExecutorSettings['priceFeed']>
type Source = Feed['sources'][number]

const mostBytes = 65_536
const timeoutMs = 5_000
/** A source's prices may have a time this far in the future, because clocks differ. */
const mostAheadSeconds = 60

/**
 * The returned function gives the median of the sources' prices, dollars with 10 decimals. Of two middle prices, it
 * takes the one that is worse for the payer. `usual`: the prices of the config.
 */
export function createPriceFeed(
  { sources, everySeconds, maxAgeSeconds, mostChangePercent }: Feed,
  usual: (chain: ChainName) => bigint,
  now: () => number = Date.now,
): (...of: Parameters<ProviderOptions['priceOf']>) => Promise<bigint> {
  const latest = new Map<Source, CoinPrices>()
  const failures = new Map<Source, string>()
  const update = async (source: Source) => {
    const answer = await read(source)
    if (typeof answer === 'string') return void failures.set(source, answer)
    failures.delete(source)
    // A source may answer with an older copy, which must not replace a newer one.
    if (answer.at >= (latest.get(source)?.at ?? 0)) latest.set(source, answer)
  }
  const refresh = keptRead(() => Promise.all(sources.map(update)), { fromStart: everySeconds * 1_000 })

  function problemOf(source: Source, chain: ChainName): string | undefined {
    const prices = latest.get(source)
    const age = Math.floor(now() / 1_000) - (prices?.at ?? 0)
    if (!prices) return failures.get(source) ?? 'no answer'
    if (age > maxAgeSeconds) return `its prices are ${age} s old${failures.has(source) ? `, and now: ${failures.get(source)}` : ''}`
    if (age < -mostAheadSeconds) return `its prices are ${-age} s ahead of the clock`
    return Object.hasOwn(prices.dollars, chain) ? undefined : 'it has no price of the chain'
  }

  return async (chain, end) => {
    await refresh()
    const refuse = (detail: string) => new RelayerError('EXECUTOR_PRICES', { detail, facts: { chain } })
    const judged = sources.map((source) => ({ source, problem: problemOf(source, chain) }))
    const good = judged.flatMap(({ source, problem }) => (problem === undefined ? (latest.get(source)?.dollars[chain] ?? []) : []))
    if (good.length * 2 <= sources.length)
      throw refuse(judged.flatMap(({ source, problem }) => (problem === undefined ? [] : [`${nameOf(source)}: ${problem}`])).join('; '))
    const price = median(good, end)
    const expected = usual(chain)
    const change = price > expected ? price - expected : expected - price
    if (change * 100n <= expected * BigInt(mostChangePercent)) return price
    throw refuse(`The price is more than ${mostChangePercent} % from the price of the config.`)
  }
}

/** Prices of a source, or why there are none. The reason has no path of a URL, which may contain a key. */
async function read(source: Source): Promise<CoinPrices | string> {
  const answer = source.kind === 'http' ? await httpText(new URL(source.url), { timeoutMs, mostBytes }) : await readBounded(source.path)
  if (answer.kind !== 'found') return answer.kind === 'absent' ? 'not found' : answer.why
  return readPrices(answer.body) ?? 'no prices in the expected form'
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

function nameOf(source: Source): string {
  return source.kind === 'http' ? new URL(source.url).origin : source.path
}

function median(prices: readonly bigint[], end: 'source' | 'target'): bigint {
  const sorted = prices.toSorted((a, b) => (a < b ? -1 : 1))
  return sorted[Math.floor((sorted.length - (end === 'source' ? 1 : 0)) / 2)] ?? 0n
}
