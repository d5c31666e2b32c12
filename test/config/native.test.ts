import { describe, expect, test } from 'vitest'
import { parseConfig } from '../../config/load/load.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'

const [here, there, third] = ['11', '22', '33'].map((byte) => `0x${byte.repeat(20)}`)

function config(routes: readonly string[], more = ''): string {
  const chain = (name: string, networkId: number) =>
    `  ${name}: { family: evm, networkId: ${networkId}, nodes: [{ url: 'http://node.example' }], blockTimeMs: 1000 }\n`
  const list = routes.map((route) => `      - { ${route} }\n`).join('')
  return `chains:\n${chain('one', 1)}${chain('two', 2)}bridges:\n${more}  native-bridge:\n    routes:\n${list}`
}

const way = (source: string, target: string, sourceContract = here, targetContract = there) =>
  `source: ${source}, target: ${target}, sourceContract: '${sourceContract}', targetContract: '${targetContract}'`

function problemsOf(text: string): string {
  try {
    parseConfig(text, {}, 'portage.yaml')
  } catch (error) {
    if (error instanceof RelayerError) return error.message
    throw error
  }
  throw new Error('The config has no problems')
}

describe('routes of the native bridge', () => {
  test('routes of the native bridge need no Wormhole', () => {
    const { chains, bridges } = parseConfig(config([way('one', 'two'), way('two', 'one', there, here)]), {}, 'portage.yaml')
    expect(bridges['native-bridge']?.routes).toMatchObject([
      { source: 'one', target: 'two', startBlock: 0, maxOpen: 200 },
      { source: 'two', target: 'one' },
    ])
    expect(chains['one']).not.toHaveProperty('wormholeChainId')
  })

  test('if the config has the token bridge, all chains need Wormhole ids and contracts', () => {
    expect(problemsOf(config([way('one', 'two')], '  wormhole-token-bridge: {}\n'))).toMatchInlineSnapshot(`
      "The config has problems. portage.yaml:
        - chains.one.wormholeChainId is missing, and bridges.wormhole-token-bridge needs it. Add Wormhole's number of the chain, or remove the chain, or bridges.wormhole-token-bridge.
        - chains.one.contracts is missing, and bridges.wormhole-token-bridge needs it. Add core, and tokenBridge if the chain has a token bridge.
        - chains.two.wormholeChainId is missing, and bridges.wormhole-token-bridge needs it. Add Wormhole's number of the chain, or remove the chain, or bridges.wormhole-token-bridge.
        - chains.two.contracts is missing, and bridges.wormhole-token-bridge needs it. Add core, and tokenBridge if the chain has a token bridge.
       (problems=4) → Correct what the message names."
    `)
  })

  test('problems of the routes of the native bridge are listed all at once', () => {
    const routes = [
      way('one', 'two'),
      way('one', 'one', third, third),
      way('one', 'nowhere', here),
      way('two', 'one', there, third),
      way('one', 'two', third, there?.toUpperCase().replace('0X', '0x')),
    ]
    expect(problemsOf(config(routes))).toMatchInlineSnapshot(`
      "The config has problems. portage.yaml:
        - bridges.native-bridge.routes[1].target is the source too. A route leads to another chain: correct one of them.
        - bridges.native-bridge.routes[2].target is not a chain of this config. Use one of: one, two.
        - bridges.native-bridge.routes[4].target goes the same way as routes[0]. One direction between two chains is one route: remove one of them.
        - bridges.native-bridge.routes[2].sourceContract is the source contract of routes[0]. A contract has one counterpart: correct one of the two addresses.
        - bridges.native-bridge.routes[4].sourceContract is the source contract of routes[1]. A contract has one counterpart: correct one of the two addresses.
        - bridges.native-bridge.routes[3].targetContract is the target contract of routes[1]. A contract has one counterpart: correct one of the two addresses.
        - bridges.native-bridge.routes[4].targetContract is the target contract of routes[0]. A contract has one counterpart: correct one of the two addresses.
       (problems=7) → Correct what the message names."
    `)
  })
})
