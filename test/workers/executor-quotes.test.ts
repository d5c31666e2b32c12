import { expect, test } from 'vitest'
import { decodeQuote } from '../../bridges/executor/quote.ts'
import { executorSchema } from '../../config/schema/executor-schema.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { silentLogger } from '../../observability/logger.ts'
import { openProvider } from '../../workers/roles/executor.ts'
import { key, quoter } from '../helpers/executor.ts'

test("a quote includes the target's fee for the data of a usual delivery, as data without compression", async () => {
  const asked: Intent[] = []
  const chainOf = (dataFee: string) => ({
    quote: async () => ({ maxFee: '3', tip: '1', baseFee: '1' }),
    dataFee: async (call: Intent) => (asked.push(call), dataFee),
  })
  const own = { contract: quoter, payee: quoter, price: '1' }
  process.env['QUOTER_OF_A_TEST'] = key.privateKey
  const signer = { kind: 'environment', variable: 'QUOTER_OF_A_TEST' }
  const config = {
    bridges: {
      executor: executorSchema.parse({ quoter: { address: quoter, signer }, marginPercent: 0, chains: { here: own, there: own } }),
    },
    chains: { here: { wormholeChainId: 2 }, there: { wormholeChainId: 24 } },
  }
  const chains = new Map(Object.entries({ here: chainOf('0'), there: chainOf('700000000') }))
  const network = { chains, served: [...chains.keys()] }
  const provider = await openProvider({ config, network, logger: silentLogger(), settings: () => noSettings } as never)
  const baseFee = async (source: number, target: number) => {
    const { signed } = await provider!.quote({ source, target })
    return decodeQuote(Buffer.from(signed.slice(2), 'hex'))?.baseFee
  }
  expect([await baseFee(2, 24), await baseFee(24, 2)]).toEqual([7n, 0n])
  for (const { data } of asked) {
    const bytes = Buffer.from(data.slice(2), 'hex')
    expect(bytes).toHaveLength(2_000)
    expect(new Set(bytes).size).toBeGreaterThan(200)
  }
})
