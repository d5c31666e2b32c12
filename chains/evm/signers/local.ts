import { readFile } from 'node:fs/promises'
import { isKeystoreJson, Wallet } from 'ethers'
import { secp256k1 } from '../../crypto/secp256k1.ts'
import { type Facts, RelayerError } from '../../../domain/catalogue/errors.ts'
import type { Key } from './verified.ts'

export interface EnvironmentSpec {
  readonly kind: 'environment'
  /** Name of an environment variable with 64 hex digits, with or without 0x. */
  readonly variable: string
}

export interface KeystoreSpec {
  readonly kind: 'keystore'
  readonly file: string
  readonly passwordFile?: string | undefined
  readonly passwordVariable?: string | undefined
}

/** A key for development. Throws SIGNER_UNAVAILABLE. */
export function createEnvironmentKey({ variable }: EnvironmentSpec): Key {
  const key = process.env[variable]?.trim()
  if (!key) throw unavailable('The environment variable is not set.', { variable })
  try {
    return createWalletKey(new Wallet(key))
  } catch {
    // The cause is left out, because it may quote the key.
    throw unavailable('The environment variable holds no private key.', { variable })
  }
}

/** Deriving the key takes about a second. Throws SIGNER_UNAVAILABLE. */
export async function createKeystoreKey(spec: KeystoreSpec): Promise<Key> {
  const { file } = spec
  const json = await readText(file)
  if (!isKeystoreJson(json)) throw unavailable('The file is not an encrypted keystore of version 3.', { file })
  const password = await readPassword(spec)
  try {
    return createWalletKey(await Wallet.fromEncryptedJson(json, password))
  } catch {
    throw unavailable('The password does not open this keystore, or the file is damaged.', { file })
  }
}

async function readPassword({ file, passwordFile, passwordVariable }: KeystoreSpec): Promise<string> {
  if (passwordFile !== undefined) return (await readText(passwordFile)).split(/\r?\n/, 1)[0] ?? ''
  if (passwordVariable === undefined) throw unavailable('No password is configured: set passwordFile or passwordVariable.', { file })
  const password = process.env[passwordVariable]
  if (password === undefined) throw unavailable(`The environment variable ${passwordVariable} is not set.`, { file })
  return password
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw unavailable(`The file can't be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`, { file })
  }
}

function createWalletKey({ address, privateKey }: Pick<Wallet, 'address' | 'privateKey'>): Key {
  const secret = Buffer.from(privateKey.slice(2), 'hex')
  return {
    address: address.toLowerCase(),
    async sign({ digest, nonce }) {
      try {
        return secp256k1().sign(digest, secret)
      } catch {
        // The cause is left out, because it may quote the key.
        throw unavailable('The transaction could not be signed.', { address, nonce })
      }
    },
  }
}

function unavailable(detail: string, facts: Facts): RelayerError {
  return new RelayerError('SIGNER_UNAVAILABLE', { detail, facts })
}
