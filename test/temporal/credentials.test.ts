import { readFile, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { type CertificateFiles, createTestCa, hasOpenssl, type TestCa } from '../../lab/devnet/temporal/certificates.ts'
import { createTokenIssuer } from '../../lab/devnet/temporal/tokens.ts'
import { apiKeyExpiry, readCredentials } from '../../temporal/client/connection/credentials.ts'
import { redactText } from '../../observability/redact.ts'
import { connectionExposure } from '../../temporal/client/connection/exposure.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const at = { address: 'temporal.example:7233', namespace: 'default' }
const file = (path: string) => ({ from: 'a test', file: path, read: () => readFileSync(path, 'utf8') })
const text = (value: string) => ({ from: 'a test', read: () => value })

const refusal = (target: object): { code?: string; message?: string } => {
  try {
    readCredentials({ ...at, ...target })
  } catch (error) {
    return error as { code: string; message: string }
  }
  return {}
}

describe.skipIf(!(await hasOpenssl()))('certificates', () => {
  const dir = temporaryFolder()
  let ca: TestCa
  let client: CertificateFiles
  let other: CertificateFiles
  beforeAll(async () => {
    ca = await createTestCa(dir, 'ca')
    ;[client, other] = await Promise.all([ca.issue('client'), ca.issue('other')])
  })

  test('a key pair and a CA are read unchanged', async () => {
    const { tls } = readCredentials({ ...at, tls: { ca: file(ca.file), certificate: file(client.certificate), key: file(client.key) } })
    const files = [ca.file, client.certificate, client.key]
    expect([tls?.ca, tls?.pair?.certificate, tls?.pair?.key]).toEqual(await Promise.all(files.map((one) => readFile(one))))
  })

  test('an unusable credential is named with its file, without any part of a key', async () => {
    const expired = await ca.issue('expired', -1)
    const key = await readFile(client.key, 'utf8')
    const pair = (certificate: string, keyFile: string) => ({ tls: { certificate: file(certificate), key: file(keyFile) } })
    const cases: [object, string][] = [
      [pair(client.certificate, other.key), `our private key does not belong to our certificate (file=${other.key}`],
      [pair(expired.certificate, expired.key), 'our certificate expired at'],
      [pair(client.key, client.key), 'our certificate is not a PEM certificate'],
      [pair(client.certificate, client.certificate), 'our private key is not an unencrypted PEM private key'],
      [pair(client.certificate, join(dir, 'absent')), 'our private key cannot be read (ENOENT)'],
      [{ tls: { certificate: file(client.certificate) } }, 'there is a certificate, but no private key'],
      [{ tls: { key: text(key) } }, 'there is a private key, but no certificate'],
      [{ tls: { ca: file(client.key) } }, "the server's CA is not a PEM certificate"],
    ]
    const secret = key.split('\n')[1]!
    for (const [target, why] of cases) {
      const { code, message } = refusal(target)
      expect([code, message]).toEqual(['TEMPORAL_CREDENTIALS', expect.stringContaining(why)])
      expect(message).not.toContain(secret)
    }
  })

  test('an encrypted key is refused, and no passphrase is asked for', async () => {
    const locked = join(dir, 'locked.key')
    await writeFile(locked, '-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIH=\n-----END ENCRYPTED PRIVATE KEY-----\n')
    expect(refusal({ tls: { certificate: file(client.certificate), key: file(locked) } }).message).toContain('not an unencrypted PEM')
  })
})

describe('API keys', () => {
  test('an API key is trimmed, and must be one word', () => {
    expect(readCredentials({ ...at, apiKey: text(' key\n') }).apiKey).toBe('key')
    for (const wrong of ['two words', 'line\nline', 'kéy', '  ']) {
      const { code, message } = refusal({ apiKey: text(wrong) })
      expect(code).toBe('TEMPORAL_CREDENTIALS')
      expect(message).not.toContain('two')
    }
  })

  test('the expiry of an API key is read from its JWT', () => {
    const ends = apiKeyExpiry(createTokenIssuer().issue([], { endsInSeconds: 60 }))
    expect((ends ?? 0) - Date.now()).toBeGreaterThan(50_000)
    expect(['plain', 'a.b.c', '..', 'a.bnVsbA.c'].map(apiKeyExpiry)).toEqual([undefined, undefined, undefined, undefined])
  })
})

test('a connection without credentials, or with a key in plain text, is reported', () => {
  const [source] = [text('x')]
  expect(connectionExposure(at)?.what).toContain('in plain text and without a client certificate or API key')
  // The text has no secret, so redaction changes nothing.
  expect(redactText(connectionExposure(at)!.what)).toBe(connectionExposure(at)!.what)
  expect(connectionExposure({ ...at, tls: {} })?.what).toContain('anyone who reaches temporal.example:7233 can read all transfers')
  expect(connectionExposure({ ...at, apiKey: source })?.what).toContain('the API key goes to temporal.example:7233 in plain text')
  expect([
    connectionExposure({ ...at, tls: {}, apiKey: source }),
    connectionExposure({ ...at, tls: { certificate: source, key: source } }),
  ]).toEqual([undefined, undefined])
})
