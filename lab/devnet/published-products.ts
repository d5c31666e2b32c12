import { configSchema } from '../../config/schema/schema.ts'
import type { CctpSide } from './cctp/cctp-users.ts'
import type { AnvilNode } from './chain/anvil.ts'
import type { ExecutorSide } from './executor/users.ts'
import type { Devnet } from './index.ts'
import type { NttEnd } from './ntt/ntt-contracts.ts'

/** The ends of NTT, CCTP and the Executor on one chain, in a devnet with `--bridge all`. */
export interface ProductSides {
  readonly ntt?: NttEnd
  readonly cctp?: CctpSide
  /** `provider`: base URL of the provider that quotes, which is Portage's own API. */
  readonly executor?: ExecutorSide & { readonly provider: string }
}

/** `ProductSides` as JSON. */
export interface PublishedProducts {
  readonly ntt?: Omit<NttEnd, 'anvil'>
  readonly cctp?: Omit<CctpSide, 'anvil'>
  readonly executor?: Omit<NonNullable<ProductSides['executor']>, 'chain'>
}

export function publishedProducts(devnet: Devnet, name: 'ethereum' | 'bsc'): PublishedProducts {
  const { anvil: _, ...ntt } = devnet.ntt?.ends[name] ?? {}
  const { anvil: __, ...cctp } = devnet.cctp?.ends[name] ?? {}
  const { chain: ___, ...executor } = devnet.executor?.ends[name] ?? {}
  const provider = `${apiUrlOf(devnet)}/v0`
  return {
    ...('manager' in ntt && { ntt }),
    ...('minter' in cctp && { cctp }),
    ...('sender' in executor && { executor: { ...executor, provider } }),
  }
}

export function productSides(
  { ntt, cctp, executor }: PublishedProducts,
  chain: { readonly wormholeChainId: number; readonly anvil: AnvilNode },
): ProductSides {
  const { anvil } = chain
  return {
    ...(ntt && { ntt: { ...ntt, anvil } }),
    ...(cctp && { cctp: { ...cctp, anvil } }),
    ...(executor && { executor: { ...executor, chain } }),
  }
}

/** URL of the API of a Portage process with the devnet's config. */
export function apiUrlOf(devnet: Pick<Devnet, 'relayerConfig'>): string {
  const { port } = configSchema.shape.api.parse(devnet.relayerConfig().api ?? {})
  return `http://127.0.0.1:${port}`
}
