import { createProvider, type ExecutorProvider } from '../../bridges/executor/provider.ts'
import { executor } from '../../bridges/executor/requests.ts'
import { createQuoteSigner } from '../../chains/registry.ts'
import { executorOf, type ExecutorSettings } from '../../config/executor.ts'
import type { SignerConfig } from '../../config/schema/schema.ts'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import { costNow } from '../../domain/fees/fees.ts'
import { haltOf } from '../../domain/settings/settings.ts'
import { type ChainName, ofChain } from '../../domain/transfer/transfer.ts'
import type { Logger } from '../../observability/logger.ts'
import { problemOf } from '../../observability/severity.ts'
import { remember } from '../../runtime/remember.ts'
import type { ProcessContext } from './context.ts'

/** Undefined unless the config has the key of a quoter. Throws SIGNER_UNAVAILABLE. */
export async function openProvider({
  config,
  network,
  logger,
  settings: now,
}: Pick<ProcessContext, 'config' | 'logger' | 'settings'> & {
  readonly network: Pick<ProcessContext['network'], 'chains' | 'served'>
}): Promise<ExecutorProvider | undefined> {
  const settings = executorOf(config)
  if (!settings?.signer) return undefined
  const sign = await openQuoter(settings, settings.signer, logger)
  const chains = new Map([...settings.chains].filter(([, { name }]) => network.served.includes(name)))
  return createProvider({ ...settings, chains, sign, priceOf: pricesOf(settings), gasPriceOf, assertOpen })

  function assertOpen(sourceChain: ChainName, targetChain: ChainName): void {
    if (haltOf(now(), { bridge: executor, sourceChain, targetChain }))
      throw new RelayerError('HALTED', { facts: { sourceChain, targetChain } })
  }

  async function gasPriceOf(chain: ChainName): Promise<bigint> {
    return costNow({ gasLimit: '1' }, await ofChain(network.chains, { chain }).quote())
  }
}

/** Dollars per coin, 10 decimals. */
function pricesOf({ chains }: ExecutorSettings): (chain: ChainName) => bigint {
  const prices = new Map([...chains.values()].map(({ name, price }) => [name, price]))
  return (chain) => ofChain(prices, { chain })
}

/** If the signing service is offline, each quote asks it again. */
async function openQuoter({ quoter }: ExecutorSettings, spec: SignerConfig, logger: Logger) {
  const opened = remember((address: string) => createQuoteSigner(spec, address))
  await opened.get(quoter).catch((error: unknown) => {
    if (toRelayerError(error).code !== 'SIGNER_OFFLINE') throw error
    logger.warn('the signing service of the quoter does not answer; each quote asks it again', { address: quoter, ...problemOf(error) })
  })
  return async (message: Uint8Array) => (await opened.get(quoter))(message)
}
