import type { PriceOf } from '../../bridges/port.ts'
import { createConfiguredChain, createQuoteSigner } from '../../chains/registry.ts'
import { nodeVariables } from '../../config/chains.ts'
import { expectedPrices } from '../../config/prices.ts'
import type { Config } from '../../config/schema/schema.ts'
import { createPriceFeed } from '../prices/price-feed.ts'
import { errorOf, type QuoteFacts } from './facts.ts'
import { limits, read } from './read.ts'

interface QuoteProbe {
  readonly config: Pick<Config, 'chains' | 'bridges' | 'priceFeed'>
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The price feed of this process, if it gives quotes of the Executor. Absent: a feed is opened for this probe. */
  readonly priceOf?: PriceOf | undefined
}

/** Undefined if this config gives no quotes. Never throws. */
export async function probeQuotes(options: QuoteProbe): Promise<QuoteFacts | undefined> {
  const { executor } = options.config.bridges
  if (!executor?.quoter.signer) return undefined
  const [missing, offline] = await Promise.all([missingPrices(Object.keys(executor.chains), options), problemOfSigner(executor.quoter)])
  return { asOf: Date.now(), missing, offline }
}

async function missingPrices(names: readonly string[], { config, environment, priceOf }: QuoteProbe): Promise<QuoteFacts['missing']> {
  if (!config.priceFeed) return []
  const feed = priceOf ? { priceOf, close: () => {} } : openFeed(config.priceFeed, config, environment)
  try {
    const missing = await Promise.all(
      names.map(async (name) => {
        const error = errorOf(await read(limits.chainMs, () => feed.priceOf(name, 'source')))
        return error?.code === 'PRICE_MISSING' ? [{ name, why: error.about }] : []
      }),
    )
    return missing.flat()
  } finally {
    feed.close()
  }
}

/** Checks that a remote signer or AWS KMS answers, without a signature. A local key is always available. */
async function problemOfSigner({ signer, address }: NonNullable<Config['bridges']['executor']>['quoter']): Promise<string | undefined> {
  if (signer?.kind !== 'remote' && signer?.kind !== 'aws-kms') return undefined
  const error = errorOf(await read(limits.chainMs, () => createQuoteSigner(signer, address)))
  return error && ['SIGNER_OFFLINE', 'INTERNAL'].includes(error.code) ? error.about : undefined
}

function openFeed(
  priceFeed: NonNullable<Config['priceFeed']>,
  config: QuoteProbe['config'],
  environment: QuoteProbe['environment'],
): { readonly priceOf: PriceOf; close(): void } {
  const named = priceFeed.sources.flatMap((source) => {
    const chain = source.kind === 'oracle' ? config.chains[source.chain] : undefined
    if (source.kind !== 'oracle' || !chain) return []
    const options = { timeoutMs: limits.nodeMs, environment: nodeVariables(chain, environment) }
    return [[source.chain, createConfiguredChain(source.chain, chain, options)] as const]
  })
  const chains = new Map(named)
  const connected = Promise.all([...chains.values()].map((chain) => chain.connect().catch(() => {})))
  const ask = createPriceFeed(priceFeed, { expected: expectedPrices(config), readerOf: (name) => chains.get(name) })
  return {
    async priceOf(name, end) {
      await connected
      return ask(name, end)
    },
    close() {
      for (const [, chain] of named) chain.close()
    },
  }
}
