import { RelayerError } from '../../../domain/errors.ts'
import type { Signer } from '../../port.ts'
import { createEnvironmentSigner, type EnvironmentSpec } from './environment.ts'
import { createKeystoreSigner, type KeystoreSpec } from './keystore.ts'

/** Where a key is, as the config says it. */
export type SignerSpec = KeystoreSpec | EnvironmentSpec | RemoteSpec | AwsKmsSpec

export interface RemoteSpec {
  readonly kind: 'remote'
  readonly url: string
  readonly identifier?: string | undefined
  readonly timeoutMs: number
}

export interface AwsKmsSpec {
  readonly kind: 'aws-kms'
  readonly keyId: string
  readonly region?: string | undefined
  readonly endpoint?: string | undefined
}

/**
 * Opens the key of a lane.
 * @param address the lane's address where it is known: another key's signer is refused
 * Throws SIGNER_UNAVAILABLE.
 */
export async function createSigner(spec: SignerSpec, address?: string): Promise<Signer> {
  if (spec.kind === 'remote' || spec.kind === 'aws-kms')
    throw new RelayerError('SIGNER_UNAVAILABLE', { detail: `${spec.kind} comes with the next change` })
  const signer = spec.kind === 'keystore' ? await createKeystoreSigner(spec) : createEnvironmentSigner(spec)
  if (address !== undefined && signer.address !== address.toLowerCase()) {
    const facts = { expected: address.toLowerCase(), actual: signer.address }
    throw new RelayerError('SIGNER_UNAVAILABLE', { detail: 'The key belongs to another address than the lane.', facts })
  }
  return signer
}
