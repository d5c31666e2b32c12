import { createPublicKey } from 'node:crypto'
import { computeAddress } from 'ethers'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { type Key, readDerSignature } from './verified.ts'

export interface AwsKmsSpec {
  readonly kind: 'aws-kms'
  readonly keyId: string
  /** Default: the region that the AWS SDK finds in the environment. */
  readonly region?: string | undefined
  readonly endpoint?: string | undefined
}

const timeoutMs = 10_000

/** A key in AWS KMS. Throws SIGNER_OFFLINE if KMS does not answer, SIGNER_UNAVAILABLE if KMS has no such key. */
export async function createAwsKmsKey(spec: AwsKmsSpec): Promise<Key> {
  const { KMSClient: Client, GetPublicKeyCommand, SignCommand } = await import('@aws-sdk/client-kms')
  const client = new Client({ region: spec.region, endpoint: spec.endpoint })
  const facts = { keyId: spec.keyId }
  const { PublicKey, KeyUsage } = await ask(spec, true, (abortSignal) =>
    client.send(new GetPublicKeyCommand({ KeyId: spec.keyId }), { abortSignal }),
  )
  const address = PublicKey && addressOf(PublicKey)
  if (address === undefined || KeyUsage !== 'SIGN_VERIFY') {
    throw new RelayerError('SIGNER_UNAVAILABLE', {
      detail: 'The key does not have the type ECC_SECG_P256K1 and the usage SIGN_VERIFY.',
      facts,
    })
  }
  return {
    address,
    async sign({ digest }) {
      const command = new SignCommand({
        KeyId: spec.keyId,
        Message: digest,
        MessageType: 'DIGEST',
        SigningAlgorithm: 'ECDSA_SHA_256',
      })
      const { Signature } = await ask(spec, false, (abortSignal) => client.send(command, { abortSignal }))
      const numbers = Signature && readDerSignature(Signature)
      if (!numbers)
        throw new RelayerError('SIGNER_OFFLINE', { detail: 'The answer of KMS is not a signature.', facts: { ...facts, address } })
      return numbers
    },
  }
}

const lasting = new Set([
  'AccessDeniedException',
  'CredentialsProviderError',
  'DisabledException',
  'InvalidArnException',
  'InvalidKeyUsageException',
  'KMSInvalidStateException',
  'NotFoundException',
  'UnrecognizedClientException',
  'UnsupportedOperationException',
  'ValidationException',
])

/** While the key is opened, a lasting refusal is SIGNER_UNAVAILABLE. Later, every failure is SIGNER_OFFLINE. */
async function ask<T>({ keyId }: AwsKmsSpec, opening: boolean, send: (signal: AbortSignal) => Promise<T>): Promise<T> {
  try {
    return await send(AbortSignal.timeout(timeoutMs))
  } catch (error) {
    const name = error instanceof Error && error.name !== 'Error' ? error.name : 'an error without a name'
    const missing = error instanceof Error && /region is missing/i.test(error.message)
    const code = opening && (missing || lasting.has(name)) ? 'SIGNER_UNAVAILABLE' : 'SIGNER_OFFLINE'
    // The cause is left out, because the SDK's errors contain whole requests, accounts and users.
    throw new RelayerError(code, { detail: missing ? 'No AWS region is configured.' : `AWS KMS: ${name}.`, facts: { keyId } })
  }
}

function addressOf(spki: Uint8Array): string | undefined {
  try {
    const { crv, x, y } = createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' }).export({ format: 'jwk' })
    if (crv !== 'secp256k1' || x === undefined || y === undefined) return undefined
    const point = Buffer.concat([Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
    return computeAddress(`0x${point.toString('hex')}`).toLowerCase()
  } catch {
    return undefined
  }
}
