import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** A test that a page quotes. A `…` in the name replaces words that the page omits. */
interface Citation {
  readonly page: string
  readonly file: string
  readonly name: string
}

function citationsIn(page: string): Citation[] {
  return readFileSync(page, 'utf8')
    .split('\n')
    .flatMap((line) => {
      let file = ''
      return [...line.matchAll(/`(test\/[^`]+\.ts)`|"([^"]+)"/g)].flatMap(([, path, name]) => {
        file = path ?? file
        return name !== undefined && file !== '' ? [{ page, file, name }] : []
      })
    })
}

/** The names of a file's tests and groups: the quoted texts before a comma. */
function namesIn(file: string): string[] {
  const source = existsSync(file) ? readFileSync(file, 'utf8') : ''
  return [...source.matchAll(/\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1,/g)].map(([, , name = '']) => name.replaceAll(/\\(.)/g, '$1'))
}

function isNameOf(cited: string, name: string): boolean {
  const parts = cited.split('…').map((part) => part.trim())
  const [first = '', last = ''] = [parts[0], parts.at(-1)]
  let at = 0
  const isInOrder = parts.every((part) => {
    const found = name.indexOf(part, at)
    at = found + part.length
    return found >= 0
  })
  return isInOrder && name.startsWith(first) && name.endsWith(last)
}

const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.md'))
const citations = pages.flatMap((path) => citationsIn(join('docs', path)))

test('the docs cite at least 90 tests by name', () => {
  expect(citations.length).toBeGreaterThanOrEqual(90)
})

test('every test that the docs cite by name exists', () => {
  const known = new Map([...new Set(citations.map(({ file }) => file))].map((file) => [file, namesIn(file)]))
  const gone = citations.filter(({ file, name }) => !known.get(file)?.some((one) => isNameOf(name, one)))
  expect(gone.map(({ page, file, name }) => `${page}: ${file}: "${name}"`)).toEqual([])
})
