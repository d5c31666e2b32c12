import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { headingsOf } from '../../scripts/docs/contents.ts'
import { docsPages, textOf } from '../helpers/documents.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(root, path)))
const documents = tracked.filter((path) => path.endsWith('.md') && !path.startsWith('test/'))
/** Files that may name a page of docs. Tests of this checker name pages that do not exist. */
const sources = tracked.filter(
  (path) => /\.(ts|tsx|js|mjs|json|ya?ml|sh|tpl|md|txt|snap)$|Dockerfile$/.test(path) && path !== 'test/house/links.test.ts',
)

const anchors = new Map<string, ReadonlySet<string>>()
function anchorsOf(page: string): ReadonlySet<string> {
  const known = anchors.get(page) ?? new Set(headingsOf(textOf(page)).map(({ anchor }) => anchor))
  anchors.set(page, known)
  return known
}

const withoutCode = (text: string) => text.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '')

/** The links of a document that lead nowhere: to a file that is missing, or to a heading that its page does not have. */
function brokenLinks(path: string, text: string): string[] {
  const links = [
    ...[...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link),
    ...[...text.matchAll(/\b(?:src|srcset|href)="([^"]+)"/g)].map(([, link = '']) => link),
  ]
  return links.filter((link) => {
    if (/^(https?|mailto):/.test(link)) return false
    const [file = '', anchor] = link.split('#')
    const target = file === '' ? path : posix.normalize(posix.join(dirname(path), file))
    if (!existsSync(join(root, target))) return true
    return anchor !== undefined && !(target.endsWith('.md') && anchorsOf(target).has(anchor))
  })
}

/** The pages of docs that a text names by path, with a heading after it: `docs/x.md#anchor` or `docs/x.md, "Heading"`. */
function brokenMentions(text: string): string[] {
  const mentions = text.matchAll(
    /(?<![\w./-])docs\/[\w/-]+\.(?:md|svg|png|json)(?:#(?<anchor>[\w-]+)|,? \(?\\*"(?<heading>[A-Z][^"\\\n]*)\\*")?/g,
  )
  return [...mentions].flatMap(([mention, ...rest]) => {
    const { anchor, heading } = rest.at(-1) as unknown as { anchor?: string; heading?: string }
    const page = /^docs\/[\w/-]+\.\w+/.exec(mention)![0]
    if (!existsSync(join(root, page))) return [mention]
    if (anchor !== undefined && !anchorsOf(page).has(anchor)) return [mention]
    const texts = heading === undefined ? [] : headingsOf(textOf(page)).map(({ text: one }) => one)
    return heading === undefined || texts.includes(heading) ? [] : [mention]
  })
}

test.each(documents)('%s: every relative link leads to a file and a heading that exist', (path) => {
  expect(brokenLinks(path, textOf(path))).toEqual([])
})

test('every page of docs that code, config, deployment files and tests name exists, with the heading they name', () => {
  const broken = sources.flatMap((path) => brokenMentions(textOf(path)).map((mention) => `${path}: ${mention}`))
  expect(broken).toEqual([])
  expect(sources.filter((path) => /docs\/[\w/-]+\.md/.test(textOf(path))).length).toBeGreaterThan(50)
})

describe.each(docsPages)('%s', (path) => {
  const text = textOf(path)
  const headings = headingsOf(text)

  test('has one title, a table of contents and next steps that link to other pages', () => {
    expect(headings.filter(({ level }) => level === 1)).toHaveLength(1)
    expect(/^<!-- contents: npm run docs -->\nOn this page: \[/m.test(text)).toBe(true)
    expect(headings.filter(({ level }) => level === 2).at(-1)?.text).toBe('Next steps')
    expect(text.split('\n## Next steps\n')[1] ?? '').toMatch(/\]\([^)#]+\.md/)
  })

  test('wraps its prose at 120 columns', () => {
    const prose = withoutBlocks(text).filter((line) => line.length > 120 && !/^\s*(\||<|!\[|On this page:|\[.*\]\(#)/.test(line))
    expect(prose.filter((line) => line.trim().includes(' '))).toEqual([])
  })
})

test('the index of docs links to every page', () => {
  const index = [...textOf('docs/README.md').matchAll(/\]\(([^)#\s]+)\)/g)].map(([, link = '']) => posix.join('docs', link))
  const missing = docsPages.filter((path) => path !== 'docs/README.md' && !/^docs\/runbooks\/(?!README)/.test(path) && !index.includes(path))
  expect(missing).toEqual([])
})

test('a broken link, a missing heading and a page that is gone are found', () => {
  expect(brokenLinks('docs/README.md', '[a](nowhere.md) [b](ARCHITECTURE.md#no-such-heading) [c](#nothing) `[d](code.md)`')).toEqual([
    'nowhere.md',
    'ARCHITECTURE.md#no-such-heading',
    '#nothing',
  ])
  expect(brokenLinks('docs/README.md', '[a](ARCHITECTURE.md#what-always-holds) [b](https://example.org/x)')).toEqual([])
  expect(brokenMentions('docs/gone.md, docs/ARCHITECTURE.md#gone and docs/ARCHITECTURE.md, "Gone"')).toEqual([
    'docs/gone.md',
    'docs/ARCHITECTURE.md#gone',
    'docs/ARCHITECTURE.md, "Gone"',
  ])
  expect(brokenMentions('docs/ARCHITECTURE.md, "What always holds", and docs/ARCHITECTURE.md.')).toEqual([])
})

/** The lines of a page outside code blocks. */
function withoutBlocks(text: string): string[] {
  return text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '').split('\n')
}
