import type { ChainConfig } from '../config/schema.ts'
import { createEvmChain, createSigner } from './evm/index.ts'
import type { Chain } from './port.ts'
import type { Signer, SigningPolicy } from './signing-port.ts'

/** What every family has to offer: `createChain` connects nothing yet, `createSigner` opens a lane's key. */
interface Family {
  readonly createChain: (options: never) => Chain
  readonly createSigner: (spec: never, address?: string, policy?: SigningPolicy) => Promise<Signer>
}

/** One that the config knows and this record does not fails to compile. Chains are of the family's own type, with the reads that its bridges need. */
export const chainFamilies = {
  evm: { createChain: createEvmChain, createSigner },
} satisfies Record<ChainConfig['family'], Family>
