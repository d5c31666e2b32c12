import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/**
 * The path of a Wormhole transfer that nothing delays. Each line is a function that gets the message. Its caller is the
 * last line above it with less indentation. Parentheses contain the caller's own name for the function, if it differs.
 * The list leaves out constants, texts, logs, metrics, ids, hashes and the code of `runtime`.
 */
const lines = readFileSync(new URL('spy-to-broadcast.txt', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')

const calls = lines.map((line) => {
  const [, indent = '', file = '', name = '', calledAs = name] = /^( *)(\S+) (\S+)(?: \((\S+)\))?$/.exec(line) ?? []
  return { depth: indent.length / 2, file, name, calledAs }
})

const withCallers = calls.map((call, index) => ({
  ...call,
  caller: calls.slice(0, index).findLast(({ depth }) => depth < call.depth)?.file,
}))

const textOf = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')

test.each(withCallers)('$caller calls $name of $file', ({ file, name, calledAs, caller }) => {
  expect(textOf(file)).toMatch(new RegExp(`\\b${name}(\\(|<|:| =|\\b.*\\{$)`, 'm'))
  if (caller) expect(textOf(caller)).toMatch(new RegExp(`\\b${calledAs}\\b`))
})

test('the walk from the spy to the broadcast enters few files, and seldom the same one again', () => {
  const entered = calls.filter(({ file }, index) => file !== calls[index - 1]?.file)
  const files = new Set(entered.map(({ file }) => file))
  expect(files.size).toBeLessThanOrEqual(60)
  expect(entered.length - files.size).toBeLessThanOrEqual(29)
})
