import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { docsPages, shellBlocks, textOf } from './documents.ts'

export const apiGuide = 'docs/start/http-api.md'

/** The page of each block that `curlBlocks` must find. No test would run a block that `curlBlocks` does not find. */
export const curlPages = [
  ...['docs/operate/monitor/health.md', 'docs/runbooks/PROCESS_NOT_READY.md'],
  ...['docs/start/devnet.md', 'docs/start/devnet.md'],
]

/** The `sh` blocks of README.md and docs/ that call curl. Skips the guide to the API, which another test runs. */
export function curlBlocks(): { readonly document: string; readonly block: string }[] {
  const documents = ['README.md', ...docsPages.filter((page) => page !== apiGuide)]
  return documents.flatMap((document) =>
    shellBlocks(textOf(document)).flatMap((block) => (/^curl /m.test(block) ? [{ document, block }] : [])),
  )
}

export async function shell(script: string, env: Record<string, string>): Promise<{ code: number | null; out: string }> {
  const child = spawn('sh', ['-c', script], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => (out += part))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, out }
}
