import { readFile } from 'node:fs/promises'
import { isKeystoreJson, Wallet } from 'ethers'
import { RelayerError } from '../../../domain/errors.ts'
import type { Key } from './verified.ts'
import { createWalletKey } from './wallet.ts'

export interface KeystoreSpec {
  readonly kind: 'keystore'
  /** An encrypted Ethereum keystore, version 3. */
  readonly file: string
  /** A file whose first line is the password. */
  readonly passwordFile?: string | undefined
  /** The environment variable that holds the password. */
  readonly passwordVariable?: string | undefined
}

/** Opens an encrypted keystore; its key derivation takes about a second. Throws SIGNER_UNAVAILABLE. */
export async function createKeystoreKey(spec: KeystoreSpec): Promise<Key> {
  const json = await readText(spec.file)
  if (!isKeystoreJson(json)) throw unavailable(spec.file, 'The file is not an encrypted keystore of version 3.')
  const password = await readPassword(spec)
  try {
    return createWalletKey(await Wallet.fromEncryptedJson(json, password))
  } catch {
    // No cause: what ethers says of a keystore may quote it.
    throw unavailable(spec.file, 'The password does not open this keystore, or the file is damaged.')
  }
}

async function readPassword(spec: KeystoreSpec): Promise<string> {
  if (spec.passwordFile !== undefined) return (await readText(spec.passwordFile)).split(/\r?\n/, 1)[0] ?? ''
  if (spec.passwordVariable === undefined) throw unavailable(spec.file, 'No password is configured: set passwordFile or passwordVariable.')
  const password = process.env[spec.passwordVariable]
  if (password === undefined) throw unavailable(spec.file, `The environment variable ${spec.passwordVariable} is not set.`)
  return password
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw unavailable(file, `The file can't be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`)
  }
}

function unavailable(file: string, detail: string): RelayerError {
  return new RelayerError('SIGNER_UNAVAILABLE', { detail, facts: { file } })
}
