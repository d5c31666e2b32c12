import { checkChains, checkNodeCounts, checkNodeNames } from '../../cli/doctor/chains.ts'
import { startBlockNode } from '../helpers/block-node.ts'
import { expect, test } from 'vitest'

async function nodeCheck(timestamp: number) {
  const url = await startBlockNode({ height: 100, timestamp })
  const fields = { nodes: [{ url, use: 'all' }], finality: { kind: 'tag' }, feeHistory: {}, lanes: [] }
  const found = await checkChains({ chains: { bsc: { family: 'evm', networkId: 1397, blockTimeMs: 1_000, ...fields } } } as never)
  return found.find(({ name }) => name.startsWith('node node-1'))
}

test('doctor warns of a node whose head is in the future or old', async () => {
  const now = Math.floor(Date.now() / 1_000)
  expect(await nodeCheck(now)).toMatchObject({ status: 'ok' })
  expect(await nodeCheck(now + 3_600)).toMatchObject({ status: 'warn', detail: expect.stringContaining('in the future') as string })
  expect(await nodeCheck(0)).toMatchObject({ status: 'warn', detail: expect.stringContaining('the head is old') as string })
})

test('doctor warns of a single node for reads, and says what this node decides for a native source', () => {
  const node = (use: string) => ({ url: 'http://127.0.0.1:9', use })
  const chains = {
    ethereum: { nodes: [node('all'), node('send')] },
    bsc: { nodes: [node('read')] },
    base: { nodes: [node('all'), node('read'), node('all')] },
  }
  const bridges = { 'native-bridge': { routes: [{ source: 'ethereum', target: 'base' }] } }
  const found = checkNodeCounts({ chains, bridges } as never)
  expect(found.map(({ area, status, detail }) => [area, status, detail])).toEqual([
    ['chain ethereum', 'warn', expect.stringContaining('deliver transfers that nobody made')],
    ['chain bsc', 'warn', expect.stringContaining('nothing outvotes it')],
  ])
})

test('doctor warns of an unnamed node among several, because an order would name its place in the list', () => {
  const url = 'http://127.0.0.1:9'
  const chains = {
    ethereum: { nodes: [{ url }] },
    bsc: { nodes: [{ url, name: 'one' }, { url }, { url }] },
    base: {
      nodes: [
        { url, name: 'one' },
        { url, name: 'two' },
      ],
    },
  }
  expect(checkNodeNames({ chains } as never).map(({ area, status, detail }) => [area, status, detail])).toEqual([
    ['chain bsc', 'warn', expect.stringContaining('node-2, node-3')],
  ])
})
