import { randomUUID } from 'node:crypto'
import { link, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose'
import { z } from 'zod'
import { RelayerError } from '../../domain/catalogue/errors.ts'

const coordinate = /^[A-Za-z0-9_-]{43}$/

const keySchema = z.strictObject({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  kid: z.string().regex(coordinate),
  x: z.string().regex(coordinate),
  /** Rotation deletes the private parts of older keys. */
  d: z.string().regex(coordinate).optional(),
  createdAt: z.iso.datetime(),
})
const fileSchema = z.strictObject({ keys: z.array(keySchema).min(1).max(20) })

export type AccessKey = z.output<typeof keySchema>

/** The `kid` of a key is its thumbprint (RFC 7638). */
export type PublicKey = Pick<AccessKey, 'kty' | 'crv' | 'kid' | 'x'>

/** Oldest first. Undefined: no file. Throws ACCESS_KEYS if it is unreadable, malformed, or open to other users. */
export async function readKeys(file: string): Promise<AccessKey[] | undefined> {
  const refuse = (detail: string, cause?: unknown) => new RelayerError('ACCESS_KEYS', { detail, facts: { file }, cause })
  let text: string
  try {
    const { mode, uid } = await stat(file)
    const self = process.getuid?.()
    // An owner who is neither this user nor root could add keys.
    if (self !== undefined && uid !== 0 && uid !== self)
      throw refuse(`It belongs to another user (${uid}): chown it to the user that Portage runs as.`)
    // Anyone who can read the file can create any token.
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) throw refuse('Other users can read or write it: chmod 600.')
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error instanceof RelayerError ? error : refuse('It cannot be read.', error)
  }
  try {
    return fileSchema.parse(JSON.parse(text)).keys
  } catch {
    // The text of the caught error may quote the file, so the error is dropped.
    throw refuse('It is not a key file of Portage.')
  }
}

/** Makes the file with a first key. The folder must exist. False if the file already exists. Throws ACCESS_KEYS. */
export async function makeKeys(file: string): Promise<boolean> {
  if (await readKeys(file)) return false
  // A link fails if the file exists. A rename could replace the file of another process.
  const place = (written: string) =>
    link(written, file).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST') return false
        throw error
      },
    )
  return store(file, [await newKey()], place)
}

/** Adds a key, which then signs. The older keys only verify tokens. Throws ACCESS_KEYS. */
export async function rotateKeys(file: string): Promise<string> {
  const key = await newKey()
  const older = (await existing(file)).map(({ d: _, ...known }) => known)
  await replaceKeys(file, [...older, key])
  return key.kid
}

/**
 * Removes a key, so that the tokens that it signed become invalid. Throws ACCESS_KEYS if the key is the one that signs,
 * or if the file does not contain the key.
 */
export async function removeKey(file: string, kid: string): Promise<void> {
  const keys = await existing(file)
  const found = keys.find((key) => key.kid === kid)
  const detail = !found ? 'It has no key with this kid.' : found.d !== undefined && 'This key signs: portage token rotate-key first.'
  if (detail) throw new RelayerError('ACCESS_KEYS', { detail, facts: { kid } })
  const others = keys.filter((key) => key !== found)
  await replaceKeys(file, others)
}

/** Throws ACCESS_KEYS if no key can sign. */
export function signingKey(keys: readonly AccessKey[] = []): AccessKey {
  const key = keys.findLast(({ d }) => d !== undefined)
  if (!key) throw new RelayerError('ACCESS_KEYS', { detail: 'There is no key to sign with on this machine.' })
  return key
}

export function fromConfig(keys: readonly string[]): Promise<PublicKey[]> {
  return Promise.all(keys.map(publicKeyOf))
}

async function publicKeyOf(x: string): Promise<PublicKey> {
  const key = { kty: 'OKP', crv: 'Ed25519', x } as const
  return { ...key, kid: await calculateJwkThumbprint(key) }
}

async function existing(file: string): Promise<AccessKey[]> {
  const keys = await readKeys(file)
  if (keys) return keys
  throw new RelayerError('ACCESS_KEYS', { detail: 'There is no key file on this machine.', facts: { file } })
}

async function newKey(): Promise<AccessKey> {
  const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
  const { x = '', d = '' } = await exportJWK(privateKey)
  const key = await publicKeyOf(x)
  // A command line would read a `kid` with a leading dash as an option.
  return key.kid.startsWith('-') ? newKey() : { ...key, d, createdAt: new Date().toISOString() }
}

function replaceKeys(file: string, keys: readonly AccessKey[]): Promise<void> {
  return store(file, keys, (written) => rename(written, file))
}

async function store<Result>(file: string, keys: readonly AccessKey[], place: (written: string) => Promise<Result>): Promise<Result> {
  const written = `${file}.${randomUUID()}`
  try {
    await writeFile(written, `${JSON.stringify({ keys }, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
    return await place(written)
  } catch (cause) {
    throw new RelayerError('ACCESS_KEYS', { detail: 'The key file cannot be written.', facts: { file }, cause })
  } finally {
    await rm(written, { force: true })
  }
}

export interface AccessSource {
  readonly dataFolder: string
  readonly publicKeys: readonly string[]
}

const freshMs = 1_000

export function keyFile({ dataFolder }: Pick<AccessSource, 'dataFolder'>): string {
  return join(dataFolder, 'access-keys.json')
}

export type KeyRing = ReturnType<typeof createKeyRing>

/** @param now a clock that is never set back: otherwise a removed key would stay valid. */
export function createKeyRing(source: AccessSource, now = () => performance.now()) {
  const file = keyFile(source)
  let known: { readonly stamp: string; readonly keys: readonly PublicKey[] } | undefined
  let checkedAt = -Infinity
  return {
    async keys(): Promise<readonly PublicKey[]> {
      if (known && now() - checkedAt < freshMs) return known.keys
      const stamp = await stampOf(file)
      if (stamp !== known?.stamp) {
        const own = (await readKeys(file)) ?? []
        known = {
          stamp,
          keys: [...(await fromConfig(source.publicKeys)), ...own.map(({ kty, crv, kid, x }) => ({ kty, crv, kid, x }))],
        }
      }
      checkedAt = now()
      return known.keys
    },
  }
}

function stampOf(file: string): Promise<string> {
  return stat(file).then(
    ({ ino, mtimeMs, size, mode }) => [ino, mtimeMs, size, mode].join(' '),
    () => 'none',
  )
}
