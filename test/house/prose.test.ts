import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { fileFindings, proseFindings } from '../../scripts/prose.ts'
import { wrapComments } from '../../scripts/prose/wrap.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('no comment, message, test name or page uses a banned phrase or is too wide', () => {
  expect(proseFindings(root).map(({ file, line, rule, text }) => `${file}:${line}: ${rule}: ${text}`)).toEqual([])
})

const rulesIn = (file: string, content: string) => fileFindings(file, content).map(({ line, rule }) => `${line} ${rule}`)

test.each([
  ['a line comment', 'const a = 1\n// Fine.\n// Waits for so many blocks.', ['3 so many']],
  ['a docstring', '/**\n * Fine. What it holds.\n */\nconst a = 1', ['2 starts with What or Who']],
  ['a message', "throw new Error('the worker was told to stop')", ['1 told']],
  ['a template', 'log(`the chain ${id} stands at ${height}`)', ['1 stands']],
  ['the text of an element', 'const a = <p>none of ours is here</p>', ['1 none of ours']],
])('the checker reads %s', (_, content, expected) => {
  expect(rulesIn('a.tsx', content)).toEqual(expected)
})

test('the checker lets questions, abbreviations, imports and single words through', () => {
  const content = "import a from 'beside'\n// What is left? HTTP stands for a protocol.\nconst stands = 'told'"
  expect(rulesIn('a.ts', content)).toEqual([])
})

test('the checker measures comments but no code', () => {
  const wide = 'word '.repeat(30)
  expect(rulesIn('a.ts', `// ${wide}\nconst a = '${wide}'`)).toEqual(['1 over 120 columns'])
})

test('the checker measures names of tests, also of tests with rows and conditions', () => {
  const name = 'a name '.repeat(20)
  expect(rulesIn('a.ts', `test('${name}', f)\ntest.each([])('${name}', f)\nother('${name}', f)`)).toEqual([
    '1 name over 100 characters',
    '2 name over 100 characters',
  ])
})

test('the checker reads Markdown paragraphs, list items and cells, but neither code nor the addresses of links', () => {
  const wide = 'word '.repeat(30)
  const content = [
    '# Who',
    '',
    'First line',
    `told ${wide}`,
    '',
    '```',
    'told',
    '```',
    '| `told` | beside |',
    '',
    `[a](http://told.example/${wide})`,
  ]
  expect(rulesIn('a.md', content.join('\n'))).toEqual(['1 starts with What or Who', '4 told', '4 over 120 columns', '9 beside'])
})

test('wrapping keeps the words, the paragraphs and the tags of a comment', () => {
  const [words, tag] = ['word '.repeat(40).trim(), `@param a ${'word '.repeat(30).trim()}`]
  const content = `/** ${words} */\nconst a = 1\nfunction f() {\n  // ${words}\n  // end\n  /**\n   * One.\n   *\n   * ${words}\n   * ${tag}\n   */\n}\n`
  const wrapped = wrapComments('a.ts', content, 120)
  expect(Math.max(...wrapped.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(120)
  const plain = (text: string) => text.replaceAll(/\/\*\*|\*\/|\/\/|\*/g, '').split(/\s+/)
  expect(plain(wrapped)).toEqual(plain(content))
  expect(wrapped).toContain('   * One.\n   *\n   * word')
  expect(wrapped).toContain('\n   * @param a word')
  expect(wrapComments('a.ts', wrapped, 120)).toBe(wrapped)
})
