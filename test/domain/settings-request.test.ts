import { describe, expect, test } from 'vitest'
import { assertKnownNames } from '../../domain/settings/known-names.ts'
import { denialOf, type SettingsOrder, noSettings, type SettingsOrders, applySettingsOrders } from '../../domain/settings/settings.ts'
import { assertSettingsFit, assertSettingsOrders } from '../../domain/settings/request.ts'

const address = `0x${'ab'.repeat(20)}`
const halt = { kind: 'halt', scope: {} } as const
const request = (...orders: unknown[]) => ({ by: 'me', reason: 'a test', orders }) as SettingsOrders
const tariff = (scope: object, own: object) => request({ kind: 'setTariff', scope, tariff: own })
const node = (change: object) => request({ kind: 'setNode', change: { chain: 'bsc', name: 'spare', disabled: false, ...change } })

describe('a change of the settings', () => {
  test.each<[string, SettingsOrders]>([
    ['a halt of everything', request(halt)],
    ['a halt of a route', request({ kind: 'halt', scope: { sourceChain: 'ethereum', targetChain: 'bsc' } })],
    ['a recipient', request({ kind: 'deny', what: 'recipient', value: `bsc/${address}` })],
    ['a token', request({ kind: 'allow', what: 'token', value: `2/0x${'0'.repeat(64)}` })],
    ['fees of a lane', request({ kind: 'setFees', scope: { kind: 'lane', lane: `evm-1:${address}` }, policy: { maxFeePerGas: '1' } })],
    ['tariff of an asset', tariff({ kind: 'asset', token: `2/0x${'0'.repeat(64)}` }, { delivered: false })],
    ['tariff of a fee', tariff({ kind: 'fee', chain: 'bsc', token: `2/${'0'.repeat(64)}` }, { minimumFee: '5', price: '7' })],
    ['tariff of a route, removed', tariff({ kind: 'route', target: 'bsc' }, {})],
    ['a node', node({ url: 'http://127.0.0.1:8545' })],
    ['a disabled node', request({ kind: 'setNode', change: { chain: 'bsc', name: 'node-1', disabled: true } })],
  ])('a well-formed change of the settings is accepted: %s', (_, orders) => {
    expect(() => assertSettingsOrders(orders)).not.toThrow()
  })

  test.each<[string, unknown]>([
    ['by: must be a text', null],
    ['by: must be a text', { reason: 'x', orders: [halt] }],
    ['reason: must be a text', { by: 'me', reason: ' ', orders: [halt] }],
    ['reason: must have at most 500 characters', { by: 'me', reason: 'x'.repeat(501), orders: [halt] }],
    ['orders: must be a list', { by: 'me', reason: 'x' }],
    ['orders: must have 1 to 100 orders', request()],
    ['orders[1].kind: unknown', request(halt, { kind: 'stop' })],
    ['orders[0].scope: must be an object', request({ kind: 'halt' })],
    [
      'orders[0].scope.target: unknown; known: bridge, chain, sourceChain, targetChain',
      request({ kind: 'halt', scope: { target: 'bsc' } }),
    ],
    ['orders[0].scope.chain: must be lower case letters', request({ kind: 'halt', scope: { chain: 56 } })],
    ['orders[0].what: must be recipient or token', request({ kind: 'deny', what: 'sender', value: address })],
    ['orders[0].value: must be <address>', request({ kind: 'deny', what: 'recipient', value: 'alice' })],
    ['orders[0].value: must be <address>', request({ kind: 'deny', what: 'recipient', value: `${address}0` })],
    ['orders[0].value: must be <address>', request({ kind: 'deny', what: 'recipient', value: `0x1${'0'.repeat(23)}${'ab'.repeat(20)}` })],
    ['orders[0].value: must be <wormhole', request({ kind: 'deny', what: 'token', value: `02/${'0'.repeat(64)}` })],
    ['orders[0].scope.id: must be the id', request({ kind: 'setFees', scope: { kind: 'transfer', id: 'latest' }, policy: {} })],
    [
      'orders[0].policy.maxFeePerGas: must be a decimal',
      request({ kind: 'setFees', scope: { kind: 'global' }, policy: { maxFeePerGas: String(2n ** 256n) } }),
    ],
    ['orders[0].value: must be <wormhole chain id or network id>/', request({ kind: 'deny', what: 'token', value: address })],
    ['orders[0].scope.kind: unknown', request({ kind: 'setFees', scope: {}, policy: {} })],
    ['orders[0].scope.lane: must be the id of a lane', request({ kind: 'setFees', scope: { kind: 'lane', lane: address }, policy: {} })],
    ['orders[0].policy.maxTip: must be a decimal', request({ kind: 'setFees', scope: { kind: 'global' }, policy: { maxTip: 1 } })],
    ['orders[0].policy.tip: unknown', request({ kind: 'setFees', scope: { kind: 'global' }, policy: { tip: '1' } })],
    ['orders[0].policy.gasFactor: must be', request({ kind: 'setFees', scope: { kind: 'global' }, policy: { gasFactor: 0.5 } })],
    ['orders[0].policy.tipFactor: must be', request({ kind: 'setFees', scope: { kind: 'global' }, policy: { tipFactor: 11 } })],
    ['orders[0].policy.bumpPercent: must be', request({ kind: 'setFees', scope: { kind: 'global' }, policy: { bumpPercent: 12.5 } })],
    ['orders[0].policy.bumpPercent: must be', request({ kind: 'setFees', scope: { kind: 'global' }, policy: { bumpPercent: 9 } })],
    ['orders[0].tariff.free: unknown; known: delivered', tariff({ kind: 'asset', token: `2/${'0'.repeat(64)}` }, { free: true })],
    ['orders[0].tariff.delivered: must be true or false', tariff({ kind: 'asset', token: `2/${'0'.repeat(64)}` }, { delivered: 'no' })],
    [
      'orders[0].tariff.minimumFee: must be a decimal',
      tariff({ kind: 'fee', chain: 'bsc', token: `2/${'0'.repeat(64)}` }, { minimumFee: '-1' }),
    ],
    ['orders[0].tariff: must be an object', tariff({ kind: 'route', target: 'bsc' }, undefined as never)],
    ['orders[0].scope.token: must be <wormhole', tariff({ kind: 'asset', token: 'usdc' }, {})],
    ['orders[0].scope.kind: unknown', tariff({ kind: 'token' }, {})],
    ['orders[0].change.disabled: must be true or false', node({ disabled: 'no' })],
    ['orders[0].change.use: must be', node({ use: 'write' })],
    ['orders[0].name: must be lower case letters', request({ kind: 'clearNode', chain: 'bsc', name: '' })],
  ])('a malformed change of the settings is refused before it is recorded: %s', (message, orders) => {
    expect(() => assertSettingsOrders(orders as SettingsOrders)).toThrow(message)
  })

  test.each([
    ['an address of 20 bytes', address],
    ['the 32 bytes of a message', `0x${'0'.repeat(24)}${'AB'.repeat(20)}`],
    ['the same on one chain', `bsc/0x${'0'.repeat(24)}${'ab'.repeat(20)}`],
  ])('a recipient is denied as bridges name it: %s', (_, value) => {
    const orders = request({ kind: 'deny', what: 'recipient', value })
    assertSettingsOrders(orders)
    const settings = applySettingsOrders(noSettings, orders, 0)
    expect(denialOf(settings, { targetChain: 'bsc', recipient: address, token: '' })).toBeDefined()
    const allowed = applySettingsOrders(settings, request({ kind: 'allow', what: 'recipient', value }), 0)
    expect(allowed.denied).toEqual([])
  })

  test('the token of a native bridge on a network with a long id can be denied', () => {
    const orders = request({ kind: 'deny', what: 'token', value: `11155111/0x${'c3'.repeat(20).padStart(64, '0')}` })
    assertSettingsOrders(orders)
    const token = `11155111/${'c3'.repeat(20).padStart(64, '0')}`
    expect(denialOf(applySettingsOrders(noSettings, orders, 0), { targetChain: 'bsc', recipient: address, token })).toBeDefined()
  })

  test.each([
    ['a Wormhole number that the config has a name for', { sourceChain: 'wormhole-2' }, 'is called ethereum in the config'],
    ['a Wormhole number that no chain can have', { sourceChain: 'wormhole-65536' }, 'there is no chain'],
    ['three chains', { chain: 'bsc', sourceChain: 'ethereum', targetChain: 'sei' }, 'no transfer from ethereum to sei concerns bsc'],
  ])('a halt that covers nothing is refused: %s', (_, scope, problem) => {
    const known = { bridges: [], lanes: [], nodes: { ethereum: [], bsc: [], sei: [] }, wormholeChainIds: { ethereum: 2 } }
    expect(() => assertKnownNames([{ kind: 'halt', scope }], known, noSettings)).toThrow(problem)
    expect(() => assertKnownNames([{ kind: 'halt', scope: { sourceChain: 'wormhole-32' } }], known, noSettings)).not.toThrow()
  })

  test('a token is revoked by its id only if it is listed, so that invented ids cannot fill the list', () => {
    const known = { bridges: [], lanes: [], nodes: {} }
    const revoke: SettingsOrder = { kind: 'revokeToken', jti: '6d1b4c0c-5f0a-4e21-9c1e-0a2b3c4d5e6f' }
    const token = { name: 'ci', level: 'write', jti: revoke.jti, kid: 'k'.repeat(43), issuedAt: 1, expiresAt: 9, chains: ['gone'] } as const
    const add: SettingsOrder = { kind: 'addToken', token }
    expect(() => assertKnownNames([revoke], known, noSettings)).toThrow('orders[0].jti: no token with this id is listed')
    expect(() => assertKnownNames([revoke, add], known, noSettings)).toThrow('orders[0].jti: no token with this id is listed')
    // A request may list a token of an unknown chain if it also revokes the token.
    expect(() => assertKnownNames([add, revoke], known, noSettings)).not.toThrow()
    expect(() => assertKnownNames([add], known, noSettings)).toThrow('there is no chain gone')
    expect(() => assertKnownNames([revoke], known, { ...noSettings, tokens: [token] })).not.toThrow()
    expect(() => assertKnownNames([revoke], { ...known, unlistedTokens: true }, noSettings)).not.toThrow()
  })

  test('a change that makes a list too long is refused', () => {
    const orders = Array.from({ length: 101 }, (_, index): SettingsOrder => ({ kind: 'halt', scope: { bridge: `b${index}` } }))
    expect(() => assertSettingsFit(applySettingsOrders(noSettings, request(...orders.slice(1)), 0))).not.toThrow()
    expect(() => assertSettingsFit(applySettingsOrders(noSettings, request(...orders), 0))).toThrow('halts would have more than 100 rows')
  })
})

describe('the URL of an added node', () => {
  test.each([
    'http://127.0.0.1:8545',
    'https://node.example/',
    '${NODE_URL}',
    'https://${HOST}:${PORT}',
    'https://node.example/v3/${KEY}',
    'https://${USER}:${PASSWORD}@node.example/rpc/${KEY}',
    'https://node.example/?apikey=${KEY}',
  ])('the URL of an added node is accepted without a secret: %s', (url) => {
    expect(() => assertSettingsOrders(node({ url }))).not.toThrow()
  })

  test.each([
    ['must not hold a user name', 'https://alice:s3cret@node.example'],
    ['must not hold a user name', 'https://s3cret@node.example'],
    ['must not hold a user name', 'https://${USER}:s3cret@node.example'],
    ['must not hold a path', 'https://node.example/s3cret'],
    ['must not hold a path', 'https://node.example/v3/s3crets3crets3cret/${REST}'],
    ['must not hold a path', 'https://node.example/${REST}s3cret'],
    ['must not hold a query', 'https://node.example?s3cret'],
    ['must not hold a query', 'https://node.example/?key=s3cret'],
    ['must not hold a query', 'https://node.example/${A}?key=s3cret'],
    ['must not hold a query', 'https://node.example/#s3cret'],
    ['must start with http', 'wss://s3cret.example'],
    ['must start with http', 's3cret${A}'],
    ['holds a character that no URL has', 'https://node.example/${s3cret'],
    ['must be a URL', ''],
    ['must be a URL', 7],
  ])('the URL of an added node with a secret is refused, and not shown: %s', (why, url) => {
    const refused = () => assertSettingsOrders(node({ url }))
    expect(refused).toThrow(`orders[0].change.url: ${why}`)
    expect(refused).not.toThrow(/s3cret/)
  })
})
