import { Wallet } from 'ethers'
import { RelayerError } from '../../../domain/errors.ts'
import type { Key } from './verified.ts'
import { createWalletKey } from './wallet.ts'

export interface EnvironmentSpec {
  readonly kind: 'environment'
  /** Name of the variable with the private key: 64 hex digits, 0x or not. */
  readonly variable: string
}

/** A private key in an environment variable: for development. Throws SIGNER_UNAVAILABLE. */
export function createEnvironmentKey(spec: EnvironmentSpec): Key {
  const key = process.env[spec.variable]?.trim()
  const facts = { variable: spec.variable }
  if (!key) throw new RelayerError('SIGNER_UNAVAILABLE', { detail: 'The environment variable is not set.', facts })
  try {
    return createWalletKey(new Wallet(key.startsWith('0x') ? key : `0x${key}`))
  } catch {
    // No cause: it may quote the key.
    throw new RelayerError('SIGNER_UNAVAILABLE', { detail: 'The environment variable holds no private key.', facts })
  }
}
