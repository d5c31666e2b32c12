import { describe, expect, test } from 'vitest'
import { chainOf } from '../../config/chains.ts'
import { childrenOf, configFields, type Field } from '../../config/schema/fields.ts'
import { parseConfig } from '../../config/load/load.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'

const chain = (more = '') =>
  `{ family: evm, networkId: 1, wormholeChainId: 2, nodes: [{ url: "https://node.example" }], blockTimeMs: 12000, contracts: { core: '0x${'c0'.repeat(20)}', tokenBridge: '0x${'b0'.repeat(20)}' }${more} }`
const withChains = (chains: string, rest = '') => `chains:\n${chains}\nbridges:\n  wormhole-token-bridge: {}\n${rest}`
const good = withChains(`  ethereum: ${chain()}`)

function refusal(text: string, env: NodeJS.ProcessEnv = {}): string {
  try {
    parseConfig(text, env, 'portage.yaml')
  } catch (error) {
    if (error instanceof RelayerError && error.code === 'CONFIG_INVALID') return error.message
    throw error
  }
  throw new Error('it was accepted')
}

describe('errors of the YAML', () => {
  test.each([
    ['a bracket too many', 'temporal: { namespace: default }}\nstreams:\n  checkpoints:\n    authorization: Basic dXNlcjpIVU5URVIy\n'],
    ['a text after a text', 'a: "b" HUNTER2secret\n'],
    ['an unknown tag', 'a: !HUNTER2secret x\n'],
    ['an unclosed quote', 'a: "HUNTER2secret\n'],
    ['an alias without anchor', 'a: *HUNTER2secret\n'],
  ])('YAML errors do not quote the file: %s', (_, text) => {
    const message = refusal(text)
    expect(message).not.toMatch(/HUNTER2|dXNlcjpIVU5URVIy/)
    expect(message).toContain('YAML')
  })

  test.each([
    ['in a map of fields', `${good}temporal: { "hunter2:secret": }\n`],
    ['in a map of fields, like a name of a chain', `${good}temporal: { hunter2secret: }\n`],
    ['among the chains', `chains:\n  "https://user:hunter2secret@node.example": {}\nbridges: {}\n`],
    ['among the emitters', good.replace('bridge: {}', 'bridge: { emitters: { HUNTER2SECRET: x } }')],
    ['among the streams', good.replace('bridge: {}', 'bridge: { streams: { "hunter2 secret": {} } }')],
  ])('a secret that a stray colon turned into a field name is not quoted: %s', (_, text) => {
    expect(refusal(text)).not.toMatch(/hunter2/i)
    expect(refusal(text)).toContain('(a name that is not shown)')
  })

  test.each<[string, string]>([
    ['- bridges.wormhole-token-bridge.streams.etherum is not a chain', good.replace('bridge: {}', 'bridge: { streams: { etherum: {} } }')],
    [
      'emitter must be an emitter (64 hex digits) or the address of an emitting contract',
      good.replace('bridge: {}', 'bridge: {}\n  receivers: { routes: [{ emitter: 12 }] }'),
    ],
    ['streams.wormhole-2 is the chain ethereum', good.replace('bridge: {}', 'bridge: { streams: { wormhole-2: {} } }')],
    ['streams.wormhole-5 is not a source', good.replace('bridge: {}', 'bridge: { streams: { wormhole-5: {} } }')],
    ['freeRoutes[0].source is not a chain', good.replace('bridge: {}', 'bridge: { freeRoutes: [{ source: bsc, target: ethereum }] }')],
    [
      'freeRoutes[0].target is the source too',
      good.replace('bridge: {}', 'bridge: { freeRoutes: [{ source: ethereum, target: ethereum }] }'),
    ],
    ['temporal.address must be host:port', `${good}temporal: { address: '[:::::]:7233' }`],
    ['temporal.namespace must be a name without spaces', `${good}temporal: { namespace: ' ' }`],
    ['api.host must be a host name', `${good}api: { host: ':' }`],
    [
      'notifications[0].lanes[0] is not one of the lanes',
      `${good}notifications: [{ name: a, url: "https://a.example", secrets: [{ secretVariable: A }], events: [lane.paused], lanes: ['evm-5:0x${'1'.repeat(40)}'] }]`,
    ],
    ...['https:x', 'https://a\\nb.example'].map((url): [string, string] => [
      'nodes[0].url must be an http or https URL',
      good.replace('https://node.example', url),
    ]),
  ])('a value without effect, or with an unintended effect, is refused: %s', (problem, text) => {
    expect(refusal(text)).toContain(problem)
  })

  test('warnings of the YAML library do not quote the file, either', async () => {
    const said: Error[] = []
    const listen = (warning: Error) => said.push(warning)
    process.on('warning', listen)
    expect(refusal('? [HUNTER2secret]\n: x\n')).not.toContain('HUNTER2secret]')
    // Node emits a process warning after the present call, so the test waits before it stops listening.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    process.off('warning', listen)
    expect(said).toEqual([])
  })

  test.each([
    ['an alias of itself', 'a: &a [*a]'],
    [
      'a bomb',
      [
        'a: &a [x,x,x,x,x,x,x,x,x]',
        ...'bcdefghi'.split('').map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[at]}`).join(',')}]`),
      ].join('\n'),
    ],
    ['lists in lists', '['.repeat(20_000) + ']'.repeat(20_000)],
    ['a thousand levels', `a: ${'['.repeat(1_000)}${']'.repeat(1_000)}`],
  ])('every error of the YAML library is CONFIG_INVALID: %s', (_, text) => {
    expect(refusal(text)).toMatch(/YAML/)
  })
})

describe('names and numbers', () => {
  test('names of chains that would vanish, or mean another chain, are refused', () => {
    expect(refusal(withChains(`  ethereum: ${chain()}\n  __proto__: ${chain()}`))).toContain(
      'chains.__proto__ is not a valid name for a field',
    )
    expect(refusal(withChains(`  constructor: ${chain()}`))).toContain(
      'chains.constructor has a name that must be lower case letters, digits and dashes, and not constructor',
    )
    expect(refusal(withChains(`  wormhole-32: ${chain()}`))).toContain(
      'chains.wormhole-32 has a name that means a chain that is not in the config',
    )
    expect(() => chainOf(parseConfig(good, {}, 'x'), 'constructor')).toThrow('no chain is called constructor')
  })

  test('a reference in a config does not find properties of JavaScript objects, only variables', () => {
    expect(refusal(`${good}dataFolder: \${toString}\n`)).toContain('needs the environment variable toString, which is not set')
  })

  test.each([
    ['chains.ethereum.networkId must be at least 1', withChains(`  ethereum: ${chain().replace('networkId: 1', 'networkId: 0')}`)],
    ...['networkId', 'wormholeChainId'].map((id): [string, string] => [
      `chains.ethereum.${id} must be a number, not .nan`,
      withChains(`  ethereum: ${chain().replace(new RegExp(`${id}: .`), `${id}: .nan`)}`),
    ]),
    ['transfers.deadlineMinutes must be a number, not .inf', `${good}transfers: { deadlineMinutes: .inf }`],
    ['transfers.deadlineMinutes must be a number, not .nan', `${good}transfers: { deadlineMinutes: .nan }`],
    ['transfers.deadlineMinutes must be at most', `${good}transfers: { deadlineMinutes: 1.0e+300 }`],
    ['streams.auditMinutes must be at most', `${good}streams: { auditMinutes: 50000 }`],
    ['audit.hours must be at most', `${good}audit: { hours: 1.0e+300 }`],
    ['chains.ethereum.blockTimeMs must be at most', withChains(`  ethereum: ${chain().replace('12000', '1000000000000000')}`)],
    ['temporal.address must be host:port', `${good}temporal: { address: 'a:b:c' }`],
    ['temporal.address must be host:port', `${good}temporal: { address: ':7233' }`],
    ['temporal.address must be host:port', `${good}temporal: { address: 'host:99999' }`],
    ['temporal.namespace must be a name without spaces', `${good}temporal: { namespace: '' }`],
    ['api.host must be a host name', `${good}api: { host: 'http://127.0.0.1' }`],
    ['spies[0].address must be host:port', good.replace('bridge: {}', 'bridge: { spies: [{ address: nope }] }')],
    [
      'streams.ethereum.first must be a whole number below 2^64',
      good.replace('bridge: {}', "bridge: { streams: { ethereum: { first: '18446744073709551616' } } }"),
    ],
    ['maxFeePerGas must be wei, or a number with its unit', `${good}fees: { maxFeePerGas: '${'9'.repeat(78)}' }`],
    ['maxFeePerGas must be wei, or a number with its unit', `${good}fees: { maxFeePerGas: '0.5 wei' }`],
    ['maxFeePerGas must be wei, or a number with its unit', `${good}fees: { maxFeePerGas: '50 ETH' }`],
    ['maxPaymentWei must be wei, or a number with its unit', withChains(`  ethereum: ${chain(', signing: { maxPaymentWei: "0 gwei" }')}`)],
  ])('a number or name beyond its bounds is refused: %s', (problem, text) => {
    expect(refusal(text)).toContain(problem)
  })

  test('every number of the config has a minimum and a maximum, and times fit into a timer of Node', () => {
    const numbers = walk(configFields(), '').filter(([, { type }]) => type === 'number' || type === 'integer')
    expect(numbers.length).toBeGreaterThan(25)
    const bounded = ({ minimum, maximum }: Field) => minimum !== undefined && maximum !== undefined && maximum <= Number.MAX_SAFE_INTEGER
    expect(numbers.filter(([, field]) => !bounded(field)).map(([path]) => path)).toEqual([])
    const longest = 2 ** 31 - 1
    const timers = { 'streams.auditMinutes': 60_000 * 1.5, 'chains.<name>.blockTimeMs': 1 }
    for (const [path, ms] of Object.entries(timers)) expect(Number(new Map(numbers).get(path)?.maximum) * ms).toBeLessThan(longest)
  })

  test.each(['02', '65536', '0'])('the id of a token begins with a possible number of a chain, and not with %s', (id) => {
    const table = `{ ethereum: { '${id}/${'0'.repeat(64)}': '200000' } }`
    expect(refusal(good.replace('bridge: {}', `bridge: { minimumFees: ${table} }`))).toContain('minimumFees.ethereum')
  })
})

function walk(parent: Field, path: string): [string, Field][] {
  return Object.entries(childrenOf(parent)).flatMap(([name, field]) => {
    const at = name === '[]' ? `${path}[]` : path ? `${path}.${name}` : name
    const options = (field.oneOf ?? []).flatMap((option) => walk(option, at))
    return [[at, field] as [string, Field], ...walk(field, at), ...options]
  })
}
