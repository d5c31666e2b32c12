import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'

/** The blocks of README.md and docs/ that call curl, but for those of docs/api.md. */
export async function curlBlocks(): Promise<readonly { readonly document: string; readonly block: string }[]> {
  const documents = [
    'README.md',
    ...(await readdir('docs')).filter((name) => name.endsWith('.md') && name !== 'api.md').map((name) => `docs/${name}`),
  ]
  const texts = await Promise.all(documents.map(async (document) => ({ document, text: await readFile(document, 'utf8') })))
  return texts.flatMap(({ document, text }) =>
    [...text.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block = '']) => (/^curl /m.test(block) ? [{ document, block }] : [])),
  )
}

/** What a user's shell says to a script. */
export async function shell(script: string, env: Record<string, string>): Promise<{ code: number | null; out: string }> {
  const child = spawn('sh', ['-c', script], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => (out += part))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, out }
}
