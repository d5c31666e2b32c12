import { Wallet } from 'ethers'
import { RelayerError } from '../../../domain/errors.ts'
import type { Signer } from '../../port.ts'
import { createWalletSigner } from './wallet.ts'

export interface EnvironmentSpec {
  readonly kind: 'environment'
  /** Name of the variable with the private key: 64 hex digits, 0x or not. */
  readonly variable: string
}

/** A private key in an environment variable: for development. Throws SIGNER_UNAVAILABLE. */
export function createEnvironmentSigner(spec: EnvironmentSpec): Signer {
  const key = process.env[spec.variable]?.trim()
  const facts = { variable: spec.variable }
  if (!key) throw new RelayerError('SIGNER_UNAVAILABLE', { detail: 'The environment variable is not set.', facts })
  try {
    return createWalletSigner(new Wallet(key.startsWith('0x') ? key : `0x${key}`))
  } catch {
    // No cause: it may quote the key.
    throw new RelayerError('SIGNER_UNAVAILABLE', { detail: 'The environment variable holds no private key.', facts })
  }
}
