import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { runCli } from '../cli/run-cli.ts'
import { docsPages } from '../helpers/documents.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const documents = ['README.md', 'AGENTS.md', 'SECURITY.md', ...docsPages]
const text = (path: string) => readFileSync(join(root, path), 'utf8')
const scripts: Record<string, string> = JSON.parse(text('package.json')).scripts

function commandsOf(document: string): string[] {
  const blocks = [...document.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, body = '']) => body.split('\n'))
  const inline = [...document.replaceAll(/```[\s\S]*?```/g, '').matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
  return [...blocks, ...inline].map((line) => line.replace(/\s+#.*$/, '').trim()).filter((line) => line !== '')
}

const portageCommands = [...new Set(documents.flatMap((path) => commandsOf(text(path))).filter((line) => /^portage [a-z]/.test(line)))]

describe.each(documents)('%s', (path) => {
  test('this document names only npm scripts that exist', () => {
    const used = commandsOf(text(path)).flatMap(
      (line) => /^npm (?:run (?:--silent )?([\w:]+)|(test)\b)/.exec(line)?.slice(1).find(Boolean) ?? [],
    )
    expect(used.filter((script) => !(script in scripts))).toEqual([])
  })

  test('this document links only to what exists', () => {
    const links = [...text(path).matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !/^https?:/.test(link))
    expect(links.filter((link) => !existsSync(join(root, dirname(path), link)))).toEqual([])
  })

  test('this document names only files that exist', () => {
    const files = commandsOf(text(path)).filter((code) => /^[a-z.]+\/[\w/.-]*\w\.(ts|mjs|md|yaml|json)$/.test(code))
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([])
  })
})

describe('the commands of the CLI', () => {
  test('the README shows the commands of the CLI, npm scripts and links', () => {
    expect(portageCommands.length).toBeGreaterThan(10)
    expect(commandsOf(text('README.md'))).toEqual(expect.arrayContaining(['npm run demo', 'npm test', 'npm run devnet']))
    expect(text('README.md')).toContain('](docs/ARCHITECTURE.md)')
  })

  test.each(portageCommands)('%s', async (line) => {
    const words = line.split(/\s+/).slice(1)
    const subcommands = words.slice(0, words.findIndex((word) => !/^[a-z-]+$/.test(word) || word.startsWith('--')) >>> 0)
    const { out, code } = await runCli([...subcommands, '--help'])
    expect(code).toBe(0)
    expect(out).toContain(`portage ${subcommands.join(' ')}`)
    for (const option of words.filter((word) => word.startsWith('--'))) expect(out).toContain(option)
    if (words.some((word) => word.startsWith('<'))) expect(out).toMatch(/Usage: .*[<[]/)
  })
})

test('npm test and npm run demo do the set-up themselves', () => {
  for (const script of ['test', 'demo', 'devnet', 'bench']) expect(scripts[script]).toMatch(/^node scripts\/setup\.mjs (--tests )?&& /)
  expect(scripts.verify).toBe('bash .ci/run')
})
