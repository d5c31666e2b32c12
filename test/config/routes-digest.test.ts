import { expect, test } from 'vitest'
import { routesDigest } from '../../config/build-id.ts'
import { configSchema } from '../../config/schema/schema.ts'

const tokenBridge = { spies: [{ address: '127.0.0.1:7073' }], guardianApis: ['http://127.0.0.1:7071'], freeRoutes: [{ target: 'bsc' }] }
const ofBridges = (bridges: object) => routesDigest({ chains: {}, bridges: configSchema.shape.bridges.parse(bridges) })
const digest = (changed: object = {}) => ofBridges({ 'wormhole-token-bridge': { ...tokenBridge, ...changed } })
const token = (digit: number) => `2/${'0'.repeat(63)}${digit}`

test('the digest of the routes changes with routes and fees, and not with spies and APIs', () => {
  expect(digest({ spies: [], guardianApis: ['http://127.0.0.1:7072/a-key'] })).toBe(digest())
  expect(digest({ freeRoutes: [] })).not.toBe(digest())
  expect(digest({ minimumFees: { bsc: { [token(1)]: '5' } } })).not.toBe(digest())
})

test('the digest of the routes does not change with the order of the keys in the config', () => {
  expect(digest({ minimumFees: { bsc: { [token(2)]: '5', [token(1)]: '5' }, base: {} } })).toBe(
    digest({ minimumFees: { base: {}, bsc: { [token(1)]: '5', [token(2)]: '5' } } }),
  )
  const freeRoutes = [{ target: 'bsc' }, { target: 'base' }]
  expect(digest({ freeRoutes: freeRoutes.toReversed() })).not.toBe(digest({ freeRoutes }))
})

test("the digest of the routes depends on a plug-in's settings, but not on the path of its file", () => {
  const plugin = {
    module: '/srv/a.mjs',
    sha256: '0'.repeat(64),
    settings: { module: 'a', signer: 'a' },
    routes: [],
    stream: { maxOpen: 200 },
  }
  const ofPlugin = (changed: object = {}, name = 'example') =>
    routesDigest({ chains: {}, bridges: { plugins: { [name]: { ...plugin, ...changed } } } })
  expect(ofPlugin({ module: '/opt/a.mjs' })).toBe(ofPlugin())
  expect(ofPlugin({ sha256: '1'.repeat(64) })).not.toBe(ofPlugin())
  expect(ofPlugin({ settings: { module: 'b', signer: 'a' } })).not.toBe(ofPlugin())
  expect(ofPlugin({ settings: { module: 'a', signer: 'b' } })).not.toBe(ofPlugin())
  expect(ofPlugin({ sha256: '1'.repeat(64) }, 'module')).not.toBe(ofPlugin({}, 'module'))
})

test("the digest of the routes changes with the quoter of the Executor, and not with its key's place", () => {
  const chains = { bsc: {}, base: {} }
  const ofQuoter = (quoter: object) => routesDigest({ chains: {}, bridges: { executor: { quoter, chains } as never } })
  const address = `0x${'22'.repeat(20)}`
  expect(ofQuoter({ address, signer: { kind: 'env', variable: 'KEY' } })).toBe(ofQuoter({ address }))
  expect(ofQuoter({ address: `0x${'33'.repeat(20)}` })).not.toBe(ofQuoter({ address }))
})
