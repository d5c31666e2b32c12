import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../run.ts'

/** PEM files. */
export interface CertificateFiles {
  readonly certificate: string
  readonly key: string
}

/** A test CA that issues certificates for servers on 127.0.0.1 and for clients. */
export interface TestCa {
  readonly file: string
  /** @param days of validity from now; negative: already expired. Default: 1 */
  issue(name: string, days?: number): Promise<CertificateFiles>
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

/** Whether OpenSSL is installed. Node can create keys but not certificates, so test certificates need OpenSSL. */
export async function hasOpenssl(): Promise<boolean> {
  return (await run('openssl', ['version'])).code === 0
}

/** Makes a CA that writes its files to `dir`. Throws Error with the output of OpenSSL. */
export async function createTestCa(dir: string, caName: string): Promise<TestCa> {
  await mkdir(dir, { recursive: true })
  const ca = { certificate: join(dir, `${caName}.pem`), key: join(dir, `${caName}.key`) }
  await openssl(['req', '-x509', ...newKey, '-keyout', ca.key, '-out', ca.certificate, '-subj', `/CN=${caName}`, '-days', '2'])
  const extensions = join(dir, 'extensions')
  await writeFile(extensions, 'subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n')
  let serial = 0
  return {
    file: ca.certificate,
    async issue(name, days = 1) {
      const files = { certificate: join(dir, `${name}.pem`), key: join(dir, `${name}.key`) }
      const request = join(dir, `${name}.csr`)
      await openssl(['req', ...newKey, '-keyout', files.key, '-out', request, '-subj', `/CN=${name}`])
      const signer = ['-CA', ca.certificate, '-CAkey', ca.key, '-set_serial', String(++serial)]
      await openssl(['x509', '-req', '-in', request, ...signer, '-days', String(days), '-extfile', extensions, '-out', files.certificate])
      return files
    },
  }
}

async function openssl(args: readonly string[]): Promise<void> {
  const { code, stderr } = await run('openssl', args, { timeoutMs: 60_000 })
  if (code !== 0) throw new Error(`openssl ${args.join(' ')}: ${stderr}`)
}
