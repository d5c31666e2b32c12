import { readdirSync, readFileSync } from 'node:fs'

const read = (page: string) => readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8')

/** The commands of docs/temporal-commands.md by their headings, as they stand there. */
export const page: ReadonlyMap<string, readonly string[]> = new Map(
  read('temporal-commands.md')
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const commands = [...section.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) => block.trim().split('\n'))
      return [section.split('\n')[0]!, commands] as const
    }),
)

/**
 * Whole lines for `temporal` in the other documents, in blocks and in sentences; tables that only name commands, and what a codec server has to be there for
 * (test/e2e/secrets.test.ts), left out.
 */
export const elsewhere = ['../README.md', ...readdirSync(new URL('../../docs', import.meta.url)).filter((name) => name.endsWith('.md'))]
  .filter((name) => name !== 'temporal-commands.md' && name !== 'commands.md')
  .flatMap((name) => {
    const text = read(name).replaceAll(/\\\n\s*/g, '')
    const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) => block.split('\n'))
    const inline = [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`(temporal [^`\n]*? --?[^`\n]*)`/g)].map(([, line = '']) => line)
    return [...blocks.filter((line) => line.startsWith('temporal ')), ...inline]
  })
  .filter((line) => !line.includes('--codec-endpoint') && !line.endsWith(' --query'))

/** The saved queries of docs/temporal-ui.md. */
export const queries = [...read('temporal-ui.md').matchAll(/^\| ([^|]+) \| `(Workflow[^`]+)` \|$/gm)].map(([, what = '', query = '']) => ({
  what,
  query,
}))
