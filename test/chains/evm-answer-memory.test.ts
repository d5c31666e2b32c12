import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createNodeClient } from '../../chains/evm/nodes/node-client.ts'
import { until } from '../../lab/devnet/until.ts'
import { startHostileServer } from '../helpers/hostile-server.ts'

const script = fileURLToPath(new URL('../helpers/ask-node.ts', import.meta.url))
const megabyte = 1_000_000

async function ask(result: string) {
  const url = await startHostileServer((body, response) => {
    const { id } = JSON.parse(body) as { id: number }
    response.end(`{"jsonrpc":"2.0","id":${id},"result":${result}}`)
  })
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', '--import', 'tsx', script, url])
  return JSON.parse(stdout) as { values: number | string; kept: number }
}

const list = (count: number, one: (index: number) => string) => `[${Array.from({ length: count }, (_, index) => one(index)).join(',')}]`
const digits = (index: number, length: number) => index.toString(36).padStart(length, '0')

/** Each answer has just under 600,000 values and 24 MiB. */
const shapes: Readonly<Record<string, () => string>> = {
  'empty objects': () => list(299_000, () => '{}'),
  'objects with a field of another name each': () => list(299_000, (index) => `{"${digits(index, 70)}":0}`),
  'objects with a field and a text of their own each': () => list(299_000, (index) => `{"${digits(index, 36)}":"${digits(index, 34)}"}`),
  'one object with many names': () => `[{${list(598_000, (index) => `"${digits(index, 34)}":0`).slice(1, -1)}}]`,
  'lists of one number': () => list(299_000, () => '[0]'),
  'texts outside Latin-1': () => list(298_000, (index) => `"\u20ac${digits(index, 72)}"`),
}

describe('the memory of a parsed answer', { timeout: 120_000 }, () => {
  test.each(Object.entries(shapes))('the largest answer of %s takes less than 100 MB', async (_, shape) => {
    const { values, kept } = await ask(shape())
    expect(values).toBeTypeOf('number')
    expect(kept).toBeLessThan(100 * megabyte)
  })

  test('23 MiB of empty objects are refused before they are parsed', async () => {
    const { values, kept } = await ask(list(8_000_000, () => '{}'))
    expect(values).toContain('more than 600000 values')
    expect(kept).toBeLessThan(10 * megabyte)
  })

  test('a node has not failed if its answer is refused because other answers fill the memory', async () => {
    const held: (() => void)[] = []
    const url = await startHostileServer((body, response) => {
      const { id } = JSON.parse(body) as { id: number }
      response.write(`{"jsonrpc":"2.0","id":${id},"result":"${'0'.repeat(23 * 2 ** 20)}`)
      held.push(() => response.end('"}'))
    })
    const node = createNodeClient({ name: 'one', url, use: 'all' }, '1', 60_000, () => {})
    const asked: Promise<unknown>[] = []
    for (let count = 1; count <= 3; count++) {
      asked.push(node.ask('eth_getLogs', [], (answer) => answer).catch((error: unknown) => error))
      await until(() => held.length >= count, { timeoutMs: 30_000, everyMs: 1, what: 'the request to arrive' })
    }
    const refused = await Promise.race(asked)
    expect(refused).toMatchObject({ isOfOthers: true })
    for (const end of held) end()
    await Promise.all(asked)
    expect(node.status()).toMatchObject({ failures: 0 })
    node.close()
  })
})
