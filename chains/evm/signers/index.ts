import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { Signer, SigningPolicy } from '../../signing-port.ts'
import { type AwsKmsSpec, createAwsKmsKey } from './aws-kms.ts'
import { createEnvironmentKey, createKeystoreKey, type EnvironmentSpec, type KeystoreSpec } from './local.ts'
import { withPolicy } from './policy.ts'
import { createRemoteKey, type RemoteSpec } from './remote.ts'
import { type Key, verified } from './verified.ts'

export type SignerSpec = KeystoreSpec | EnvironmentSpec | RemoteSpec | AwsKmsSpec

/** Without a policy, signs everything. Throws SIGNER_OFFLINE, SIGNER_UNAVAILABLE (also for another address). */
export async function createSigner(spec: SignerSpec, address?: string, policy?: SigningPolicy): Promise<Signer> {
  const signer = verified(await openKey(spec, address))
  if (address !== undefined && signer.address !== address.toLowerCase()) {
    const facts = { expected: address.toLowerCase(), actual: signer.address }
    throw new RelayerError('SIGNER_UNAVAILABLE', { detail: "The key's address is not the lane's.", facts })
  }
  return policy ? withPolicy(signer, policy) : signer
}

function openKey(spec: SignerSpec, address: string | undefined): Promise<Key> | Key {
  switch (spec.kind) {
    case 'keystore':
      return createKeystoreKey(spec)
    case 'environment':
      return createEnvironmentKey(spec)
    case 'remote':
      return createRemoteKey(spec, address)
    case 'aws-kms':
      return createAwsKmsKey(spec)
  }
}
