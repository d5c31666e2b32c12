import { hexlify, keccak256 } from 'ethers'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { Signer, SigningPolicy } from '../../signing-port.ts'
import { type AwsKmsSpec, createAwsKmsKey } from './aws-kms.ts'
import { createEnvironmentKey, createKeystoreKey, type EnvironmentSpec, type KeystoreSpec } from './local.ts'
import { withPolicy } from './policy.ts'
import { createRemoteKey, type RemoteSpec } from './remote.ts'
import { type Key, signatureBy, verified } from './verified.ts'

export type SignerSpec = KeystoreSpec | EnvironmentSpec | RemoteSpec | AwsKmsSpec

/** Without a policy, the signer signs everything. Throws SIGNER_OFFLINE, SIGNER_UNAVAILABLE. */
export async function createSigner(spec: SignerSpec, address?: string, policy?: SigningPolicy): Promise<Signer> {
  const signer = verified(await openKeyOf(spec, address))
  return policy ? withPolicy(signer, policy) : signer
}

/** Returns r, s, v (27 or 28) over the message's keccak256, without the prefix of EIP-191. */
export type MessageSigner = (message: Uint8Array) => Promise<Uint8Array>

/** A message must never be the bytes of a transaction. Throws the errors of `createSigner`. */
export async function createMessageSigner(spec: SignerSpec, address: string): Promise<MessageSigner> {
  const key = await openKeyOf(spec, address)
  return async (message) => {
    const unsigned = hexlify(message)
    const { compact, yParity } = await signatureBy(key, { unsigned, digest: Buffer.from(keccak256(message).slice(2), 'hex') })
    return Buffer.concat([compact, Buffer.of(27 + yParity)])
  }
}

async function openKeyOf(spec: SignerSpec, address: string | undefined): Promise<Key> {
  const key = await openKey(spec, address)
  if (address === undefined || key.address === address.toLowerCase()) return key
  const facts = { expected: address.toLowerCase(), actual: key.address }
  throw new RelayerError('SIGNER_UNAVAILABLE', { detail: "The key's address is not the one in the config.", facts })
}

function openKey(spec: SignerSpec, address: string | undefined): Promise<Key> | Key {
  if (spec.kind === 'keystore') return createKeystoreKey(spec)
  if (spec.kind === 'environment') return createEnvironmentKey(spec)
  return spec.kind === 'remote' ? createRemoteKey(spec, address) : createAwsKmsKey(spec)
}
