import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { CredentialSource, TemporalAccess, TlsSettings } from '../../../domain/temporal-access.ts'

export type TemporalCredentials = ReturnType<typeof readCredentials>

/** Throws TEMPORAL_CREDENTIALS for unreadable, invalid, expired or mismatched files. */
export function readCredentials({ tls, apiKey }: TemporalAccess) {
  return { tls: tls && readTls(tls), apiKey: apiKey && readApiKey(apiKey) }
}

export function connectionOptions({ address, headers }: TemporalAccess, { tls, apiKey }: TemporalCredentials) {
  const { serverName, ca, pair } = tls ?? {}
  return {
    address,
    // Without `tls: false`, the SDK would use TLS whenever there is an API key.
    tls: tls
      ? {
          ...(serverName !== undefined && { serverNameOverride: serverName }),
          ...(ca && { serverRootCACertificate: ca }),
          ...(pair && { clientCertPair: { crt: pair.certificate, key: pair.key } }),
        }
      : false,
    ...(apiKey !== undefined && { apiKey }),
    ...(headers && { metadata: { ...headers } }),
  }
}

export function apiKeyExpiry(apiKey: string): number | undefined {
  try {
    const claims = JSON.parse(Buffer.from(apiKey.split('.')[1] ?? '', 'base64url').toString('utf8')) as { exp?: unknown } | null
    return typeof claims?.exp === 'number' ? claims.exp * 1000 : undefined
  } catch {
    return undefined
  }
}

function readTls({ serverName, ca, certificate, key }: TlsSettings) {
  return { serverName, ca: ca && readCa(ca), pair: certificate || key ? readPair(certificate, key) : undefined }
}

function readCa(source: CredentialSource): Buffer {
  const text = readText(source, "the server's CA")
  readCertificate(text, source, "the server's CA")
  return Buffer.from(text)
}

function readPair(certificate: CredentialSource | undefined, key: CredentialSource | undefined) {
  if (!certificate) throw unusable('there is a private key, but no certificate', key)
  if (!key) throw unusable('there is a certificate, but no private key', certificate)
  const certificateText = readText(certificate, 'our certificate')
  const keyText = readText(key, 'our private key')
  const parsed = readCertificate(certificateText, certificate, 'our certificate')
  if (Date.parse(parsed.validTo) < Date.now()) throw unusable(`our certificate expired at ${parsed.validTo}`, certificate)
  let privateKey: KeyObject
  try {
    privateKey = createPrivateKey(keyText)
  } catch {
    // The caught error may quote the key, so it is not passed on.
    throw unusable('our private key is not an unencrypted PEM private key', key)
  }
  if (!parsed.checkPrivateKey(privateKey)) throw unusable('our private key does not belong to our certificate', key)
  return { certificate: Buffer.from(certificateText), key: Buffer.from(keyText) }
}

function readCertificate(text: string, source: CredentialSource, what: string): X509Certificate {
  try {
    return new X509Certificate(text)
  } catch {
    throw unusable(`${what} is not a PEM certificate`, source)
  }
}

function readApiKey(source: CredentialSource): string {
  const text = readText(source, 'the API key').trim()
  if (!/^[\x21-\x7e]+$/.test(text)) throw unusable('the API key is not one word of printable ASCII', source)
  return text
}

function readText(source: CredentialSource, what: string): string {
  let text: string
  try {
    text = source.read()
  } catch (cause) {
    throw unusable(`${what} cannot be read (${(cause as NodeJS.ErrnoException).code ?? 'unknown reason'})`, source)
  }
  if (text.trim() === '') throw unusable(`${what} is empty`, source)
  return text
}

function unusable(what: string, source: CredentialSource | undefined): RelayerError {
  return new RelayerError('TEMPORAL_CREDENTIALS', { detail: what, facts: { file: source?.file, from: source?.from } })
}
