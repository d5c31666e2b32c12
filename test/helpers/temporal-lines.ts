import { docsPages, shellBlocks, textOf } from './documents.ts'

const commandsPage = 'docs/operate/temporal/commands.md'

/** The command lines of docs/operate/temporal/commands.md, by heading. Headings without commands are left out. */
export const page: ReadonlyMap<string, readonly string[]> = new Map(
  textOf(commandsPage)
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const commands = shellBlocks(section).flatMap((block) => block.trim().split('\n'))
      return [section.split('\n')[0]!, commands] as const
    })
    .filter(([, commands]) => commands.length > 0),
)

/** `temporal` lines of other documents, except tables that only name commands, and lines that need a codec. */
export const elsewhere = ['README.md', ...docsPages]
  .filter((name) => name !== commandsPage && name !== 'docs/start/coming-from.md')
  .flatMap((name) => {
    const text = textOf(name).replaceAll(/\\\n\s*/g, '')
    const blocks = shellBlocks(text).flatMap((block) => block.split('\n'))
    const inline = [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`(temporal [^`\n]*? --?[^`\n]*)`/g)].map(([, line = '']) => line)
    return [...blocks.filter((line) => line.startsWith('temporal ')), ...inline]
  })
  .filter((line) => !line.includes('--codec-endpoint') && !line.endsWith(' --query'))

export const queries = [...textOf('docs/operate/temporal/web-ui.md').matchAll(/^\| ([^|]+) \| `(Workflow[^`]+)` \|$/gm)].map(
  ([, what = '', query = '']) => ({
    what,
    query,
  }),
)
