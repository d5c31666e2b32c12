import { SigningKey } from 'ethers'
import type { DevnetAccount } from '../chain/accounts.ts'
import { signWithRandom, toDer } from './ecdsa.ts'
import { type Answer, type SigningService, startSigningService } from './signing-service.ts'

interface Faults {
  /** Replaces the signature with other numbers, or with bytes that are not a signature. */
  alter?: ((signature: { r: bigint; s: bigint }) => { r: bigint; s: bigint } | Buffer) | undefined
  /** If set, every answer is this exception. */
  exception?: string | undefined
}

export interface Kms extends SigningService {
  readonly faults: Faults
}

export function kmsKeyId({ address }: Pick<DevnetAccount, 'address'>): string {
  return `devnet-${address}`
}

/** Credentials with which the AWS SDK signs its requests. This KMS does not check the signatures. */
export const kmsEnvironment = {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'devnet',
  AWS_SECRET_ACCESS_KEY: 'devnet-secret-of-kms',
} as const

/** DER prefix of the SubjectPublicKeyInfo of an uncompressed secp256k1 point (RFC 5480). */
const spkiPrefix = '3056301006072a8648ce3d020106052b8104000a034200'

interface Request {
  readonly KeyId?: string
  readonly Message?: string
  readonly MessageType?: string
  readonly SigningAlgorithm?: string
}

/**
 * Starts the part of AWS KMS that a relayer needs (JSON 1.1 over HTTP). Two signatures of one digest differ. Signatures
 * of requests are not checked. For DEVNET keys.
 */
export async function startKms(accounts: readonly DevnetAccount[], port = 0): Promise<Kms> {
  const keys = new Map(accounts.map((account) => [kmsKeyId(account), account] as const))
  const faults: Faults = {}
  const service = await startSigningService(({ headers }, body) => {
    if (faults.exception !== undefined) return refuse(faults.exception)
    if (!headers.authorization?.startsWith('AWS4-HMAC-SHA256 ')) return refuse('MissingAuthenticationTokenException')
    const request = JSON.parse(body) as Request
    const key = keys.get(request.KeyId?.replace(/^alias\//, '') ?? '')
    if (!key) return refuse('NotFoundException')
    switch (headers['x-amz-target']) {
      case 'TrentService.GetPublicKey':
        return answer({ ...described(request), KeyUsage: 'SIGN_VERIFY', KeySpec: 'ECC_SECG_P256K1', PublicKey: spkiOf(key) })
      case 'TrentService.Sign':
        return sign(key, request, faults.alter)
      default:
        return refuse('UnknownOperationException')
    }
  }, port)
  return Object.assign(service, { faults })
}

function sign({ privateKey }: DevnetAccount, request: Request, alter: Faults['alter']): Answer {
  const digest = Buffer.from(request.Message ?? '', 'base64')
  if (request.MessageType !== 'DIGEST' || request.SigningAlgorithm !== 'ECDSA_SHA_256' || digest.length !== 32) {
    return refuse('ValidationException')
  }
  const numbers = signWithRandom(digest, privateKey)
  const made = alter?.(numbers) ?? numbers
  const Signature = (Buffer.isBuffer(made) ? made : toDer(made)).toString('base64')
  return { ...answer({ ...described(request), SigningAlgorithm: 'ECDSA_SHA_256', Signature }), signed: true }
}

function described({ KeyId = '' }: Request) {
  return { KeyId: `arn:aws:kms:us-east-1:000000000000:key/${KeyId}` }
}

function answer(body: object): Answer {
  return { status: 200, type: 'application/x-amz-json-1.1', body: JSON.stringify(body) }
}

function refuse(name: string): Answer {
  const status = name === 'KMSInternalException' ? 500 : 400
  return { status, type: 'application/x-amz-json-1.1', body: JSON.stringify({ __type: name, message: `${name} of the devnet` }) }
}

function spkiOf({ privateKey }: DevnetAccount): string {
  return Buffer.from(spkiPrefix + SigningKey.computePublicKey(privateKey).slice(2), 'hex').toString('base64')
}
