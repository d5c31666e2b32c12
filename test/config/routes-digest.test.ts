import { expect, test } from 'vitest'
import { routesDigest } from '../../config/build-id.ts'
import { configSchema } from '../../config/schema/schema.ts'

const tokenBridge = { spies: [{ address: '127.0.0.1:7073' }], guardianApis: ['http://127.0.0.1:7071'], freeRoutes: [{ target: 'bsc' }] }
const digest = (changed: object = {}) =>
  routesDigest(configSchema.parse({ chains: {}, bridges: { 'wormhole-token-bridge': { ...tokenBridge, ...changed } } }))

test('the digest of the routes changes with routes and fees, and not with spies and APIs', () => {
  expect(digest({ spies: [], guardianApis: ['http://127.0.0.1:7072/a-key'] })).toBe(digest())
  expect(digest({ freeRoutes: [] })).not.toBe(digest())
  expect(digest({ minimumFees: { bsc: { [`2/${'0'.repeat(63)}1`]: '5' } } })).not.toBe(digest())
})
