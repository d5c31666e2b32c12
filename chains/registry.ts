import { createEvmChain, createSigner as createEvmSigner } from './evm/index.ts'
import type { Chain, Signer, SigningPolicy } from './port.ts'

/** What every family has to offer. A family in the record without all of it does not compile, nor does a missing family. */
interface Family {
  readonly createChain: (options: never) => Chain
  readonly createSigner: (spec: never, address?: string, policy?: SigningPolicy) => Promise<Signer>
}

/** The families, as the config names them. */
export type ChainFamily = 'evm'

const families = {
  evm: { createChain: createEvmChain, createSigner: createEvmSigner },
} satisfies Record<ChainFamily, Family>

type Families = typeof families

/** A chain of a family, not connected yet. The result is the family's own type, with the reads that its bridges need. */
export function createChain<F extends ChainFamily>(
  family: F,
  options: Parameters<Families[F]['createChain']>[0],
): ReturnType<Families[F]['createChain']> {
  return families[family].createChain(options) as ReturnType<Families[F]['createChain']>
}

/** Opens a lane's key; see the family's `createSigner`. Throws SIGNER_UNAVAILABLE, SIGNER_OFFLINE. */
export function createSigner<F extends ChainFamily>(
  family: F,
  spec: Parameters<Families[F]['createSigner']>[0],
  address?: string,
  policy?: SigningPolicy,
): ReturnType<Families[F]['createSigner']> {
  return families[family].createSigner(spec, address, policy) as ReturnType<Families[F]['createSigner']>
}
