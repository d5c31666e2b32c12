import { describe, expect, test } from 'vitest'
import { crossCheck } from '../../config/load/cross-checks.ts'
import { nodeVariables } from '../../config/chains.ts'

describe('the nodes of a chain, checked together', () => {
  const check = (nodes: unknown, rest: object = {}) =>
    crossCheck({ chains: { one: { nodes, lanes: [{ address: '0x1' }], ...rest } } }).map(({ path, problem }) => `${path} ${problem}`)

  test('one plain node is enough', () => {
    expect(check([{ url: 'http://a' }])).toEqual([])
    expect(
      check(
        [
          { url: 'http://a', use: 'read' },
          { url: 'http://b', use: 'private' },
        ],
        { send: 'private' },
      ),
    ).toEqual([])
  })

  test('a chain needs a node that reads', () => {
    expect(check([{ url: 'http://a', use: 'send' }])).toEqual(['chains.one.nodes has no node that reads'])
  })

  test('a chain with keys needs a node that takes transactions', () => {
    expect(check([{ url: 'http://a', use: 'read' }])).toEqual(['chains.one.nodes has no node that takes transactions'])
    expect(check([{ url: 'http://a', use: 'read' }], { lanes: [] })).toEqual([])
  })

  test('a chain that sends privately has a private node', () => {
    expect(check([{ url: 'http://a' }], { send: 'private' })).toEqual(['chains.one.send is private, but no node is'])
  })

  test('the names of the nodes of a chain are unique, also the names by place', () => {
    expect(check([{ url: 'http://a', name: 'node-2' }, { url: 'http://b' }])).toEqual([
      'chains.one.nodes[1].name is node-2, as of nodes[0]',
    ])
  })

  test('a value that is no list of nodes is left to the schema', () => {
    for (const nodes of [undefined, [], 'x', {}]) expect(check(nodes)).toEqual([])
  })
})

test('URLs of added nodes can use only the variables that the config lists', () => {
  const env = { BASE_RPC: 'a', SIGNER_URL: 'http://user:password@signer', NODE_KEY: 'c', PORTAGE_KEYSTORE_PASSWORD: 'd', RPC_PASSWORD: 'f' }
  expect(nodeVariables({ urlVariables: [] }, env)).toEqual({})
  expect(nodeVariables({ urlVariables: ['NODE_KEY'] }, env)).toEqual({ NODE_KEY: 'c' })
})

test('automatic top-ups need a lane that pays, top-ups that are on, and a level above every minimum', () => {
  const topUp = { from: '0x1', minimum: '5', level: '9' }
  const problems = (chain: object) =>
    crossCheck({ chains: { one: { nodes: [{}], lanes: [{ address: '0x1' }], signing: { topUps: true }, ...chain } } }).map(
      ({ path }) => path,
    )
  expect(problems({ topUp })).toEqual([])
  expect(problems({ topUp: { ...topUp, from: '0x2' }, signing: {} })).toEqual(['chains.one.topUp.from', 'chains.one.topUp'])
  expect(problems({ topUp: { ...topUp, level: '5' } })).toEqual(['chains.one.topUp.level'])
  expect(problems({ topUp: { ...topUp, minimum: '2 coins', level: '1000 gwei' } })).toEqual(['chains.one.topUp.level'])
  expect(problems({ topUp, lanes: [{ address: '0x1' }, { address: '0x3', minimumBalance: '9' }] })).toEqual(['chains.one.topUp.level'])
})
