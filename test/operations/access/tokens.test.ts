import { createHmac, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, importJWK, SignJWT } from 'jose'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  assertLevel,
  assertNotRevoked,
  assertScope,
  assertStillGood,
  authenticate,
  bearerOf,
} from '../../../operations/access/principals.ts'
import { type AccessKey, createKeyRing, makeKeys, readKeys, signingKey } from '../../../operations/access/keys.ts'
import { type OrderName, orderOf, orders } from '../../../operations/orders/orders.ts'
import { aboutSettings, aboutStream, aboutTransfer } from '../../../operations/access/subjects.ts'
import { signToken, verifyToken } from '../../../operations/access/tokens.ts'
import { type AccessScope, accessLevels, longestTokenMs, type OrderSubject, type Principal } from '../../../domain/access.ts'
import { temporaryFolder } from '../../helpers/folders.ts'

const folder = temporaryFolder()
let key: AccessKey
beforeAll(async () => {
  await makeKeys(join(folder, 'keys.json'))
  key = signingKey(await readKeys(join(folder, 'keys.json')))
})

afterEach(() => void vi.restoreAllMocks())

const soon = () => Date.now() + 60_000
const verify = (token: string, audience = 'default') => verifyToken([key], audience, token)
const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const seconds = () => Math.floor(Date.now() / 1000)
const claims = () => ({
  ...{ iss: 'portage', aud: 'portage/default', sub: 'mallory', jti: randomUUID() },
  ...{ iat: seconds(), exp: seconds() + 60, level: 'admin' },
})

async function signedWith(changed: object, header: object = {}): Promise<string> {
  const { kty, crv, x, d, kid } = key
  const jwt = new SignJWT({ ...claims(), ...changed }).setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid, ...header })
  return jwt.sign(await importJWK({ kty, crv, x, d }, 'EdDSA'))
}

test('a token has a name, a level, a scope and an expiry', async () => {
  const wanted = { name: 'alice', level: 'sign', chains: ['bsc'], lanes: [`evm-56:0x${'a'.repeat(40)}`], expiresAt: soon() } as const
  const { token, principal } = await signToken(key, 'default', wanted)
  expect(await verify(token)).toEqual(principal)
  expect(principal).toMatchObject({ name: 'alice', level: 'sign', chains: ['bsc'], lanes: wanted.lanes, kid: key.kid })
  expect(await verify(await signedWith({}))).toMatchObject({ name: 'mallory', level: 'admin' })
})

describe('invalid tokens are refused, and the error does not say why', () => {
  const unsigned = (header: object) => `${base64url(header)}.${base64url(claims())}.`
  const hmac = (secret: Buffer | string) => {
    const text = `${base64url({ alg: 'HS256', typ: 'JWT', kid: key.kid })}.${base64url(claims())}`
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
  }
  test.each<[string, () => string | Promise<string>]>([
    ['no token', () => 'not a token'],
    ['alg none', () => unsigned({ alg: 'none', typ: 'JWT', kid: key.kid })],
    ['no alg', () => unsigned({ typ: 'JWT', kid: key.kid })],
    ['HS256 with the public key as the secret', () => hmac(Buffer.from(key.x, 'base64url'))],
    ['HS256 with the text of the public key', () => hmac(key.x)],
    ['HS256 with its JWK', () => hmac(JSON.stringify({ kty: key.kty, crv: key.crv, x: key.x }))],
    ['another key under our kid', () => foreign(key.kid)],
    ['another key under its own kid', () => foreign('k'.repeat(43))],
    ['another key that the header brings along', async () => foreign(undefined, true)],
    ['no kid', () => signedWith({}, { kid: undefined })],
    ['another type of token', () => signedWith({}, { typ: 'at+jwt' })],
    ['a header that must be understood', () => signedWith({}, { crit: ['b64'], b64: false }).catch(() => 'refused when it was made')],
    ['another issuer', () => signedWith({ iss: 'somebody' })],
    ['another deployment', () => signedWith({ aud: 'portage/staging' })],
    ['no end', () => signedWith({ exp: undefined })],
    ['no id', () => signedWith({ jti: undefined })],
    ['no name', () => signedWith({ sub: undefined })],
    ['no time of issue', () => signedWith({ iat: undefined })],
    ["Portage's own name", () => signedWith({ sub: 'portage' })],
    ['the name of the key file', () => signedWith({ sub: 'key-file' })],
    ['the name of automatic top-ups', () => signedWith({ sub: 'automatic' })],
    ['the name of checkpoints', () => signedWith({ sub: 'checkpoint' })],
    ['a name that would break a line', () => signedWith({ sub: 'a\nb' })],
    ['a level that is not there', () => signedWith({ level: 'root' })],
    ['an empty scope, which is not all', () => signedWith({ chains: [] })],
    ['a scope that is no list', () => signedWith({ chains: 'bsc' })],
    ['a time that has not come', () => signedWith({ nbf: seconds() + 600 })],
    ['a changed claim', async () => changed(await signedWith({ level: 'read' }))],
    ['a token of a megabyte', () => 'a.'.repeat(500_000)],
  ])('an invalid token is refused, and the error does not say why: %s', async (_, make) => {
    const refused = await verify(await make()).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'ACCESS_TOKEN_INVALID', facts: {}, cause: undefined })
  })

  test('a token is invalid if its lifetime is longer than the time for which revocations are kept', async () => {
    const now = Date.now()
    const made = (ms: number) => signToken(key, 'default', { name: 'alice', level: 'admin', expiresAt: now + ms }, now)
    const [longest, longer] = [await made(longestTokenMs), await made(longestTokenMs + 1_000)]
    expect((await verifyToken([key], 'default', longest.token)).jti).toBe(longest.principal.jti)
    await expect(verifyToken([key], 'default', longer.token)).rejects.toMatchObject({ code: 'ACCESS_TOKEN_INVALID' })
    const inMillennium = Date.UTC(3000, 0)
    const late = await signToken(key, 'default', { name: 'alice', level: 'admin', expiresAt: inMillennium + 1_000 }, inMillennium)
    await expect(verifyToken([key], 'default', late.token)).rejects.toMatchObject({ code: 'ACCESS_TOKEN_INVALID' })
  })

  test('the clock of the machine that signs may be a minute ahead', async () => {
    const now = seconds() * 1000
    vi.spyOn(Date, 'now').mockReturnValue(now)
    const ahead = (ms: number) => ({ iat: (now + ms) / 1000, exp: (now + ms + longestTokenMs) / 1000 })
    expect(await verify(await signedWith(ahead(60_000)))).toMatchObject({ name: 'mallory' })
    await expect(verify(await signedWith(ahead(61_000)))).rejects.toMatchObject({ code: 'ACCESS_TOKEN_INVALID' })
  })

  test('a token has at most 4,096 characters', async () => {
    const padded = async (bytes: number) => signedWith({ more: 'x'.repeat(bytes) })
    const lengths = new Set<number>()
    for (let bytes = 2_500; Math.max(0, ...lengths) < 4_100; bytes++) {
      const token = await padded(bytes)
      if (token.length >= 4_090) lengths.add(token.length)
      else continue
      const outcome = await verify(token).then(
        () => 'good',
        () => 'refused',
      )
      expect([token.length, outcome]).toEqual([token.length, token.length > 4_096 ? 'refused' : 'good'])
    }
    expect(lengths).toContain(4_096)
  })

  test('an expired token is refused as expired', async () => {
    await expect(verify(await signedWith({ exp: seconds() - 1 }))).rejects.toMatchObject({ code: 'ACCESS_TOKEN_EXPIRED' })
  })

  function changed(token: string): string {
    const [head, , signature] = token.split('.')
    return [head, base64url({ ...claims(), level: 'admin' }), signature].join('.')
  }
  async function foreign(kid: string | undefined, embedded = false): Promise<string> {
    const { privateKey, publicKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519' })
    const jwk = embedded ? { jwk: await exportJWK(publicKey) } : {}
    return new SignJWT(claims()).setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', ...(kid && { kid }), ...jwk }).sign(privateKey)
  }
})

test.each(['portage', 'Key-File', '', 'a b', '-x', 'x'.repeat(65)])('no token is created for the name %j', async (name) => {
  const made = signToken(key, 'default', { name, level: 'read', expiresAt: soon() })
  await expect(made).rejects.toMatchObject({ code: 'INPUT_INVALID', about: expect.stringMatching(/^name: must be a name/) })
})

const principal = (changes: Partial<Principal>): Principal => ({
  ...{ name: 'alice', level: 'read', jti: 'j', kid: 'k', issuedAt: 0, expiresAt: soon() },
  ...changes,
})

test('each level allows its own orders and those of lower levels, and no others', () => {
  for (const operation of Object.keys(orders) as OrderName[]) {
    const { level } = orderOf(operation)
    const allowed = accessLevels.filter((one) => {
      try {
        assertLevel(principal({ level: one }), operation, level)
        return true
      } catch (error) {
        expect(error).toMatchObject({ code: 'ACCESS_LEVEL', facts: { operation, needed: level } })
        return false
      }
    })
    expect(allowed).toEqual(accessLevels.slice(accessLevels.indexOf(level)))
  }
})

const lane = `evm-56:0x${'a'.repeat(40)}`
test.each<[string, AccessScope, OrderSubject, boolean]>([
  ['no limits: everything', {}, {}, true],
  ['a chain: its transfer', { chains: ['bsc'] }, aboutTransfer('bsc'), true],
  ["a chain: another's transfer", { chains: ['bsc'] }, aboutTransfer('ethereum'), false],
  ['a chain: a transfer to nobody knows where', { chains: ['bsc'] }, aboutTransfer(undefined), false],
  ['a chain: everything', { chains: ['bsc'] }, {}, false],
  ['a chain: a stream that also leads elsewhere', { chains: ['bsc'] }, aboutStream('native-bridge:ethereum:bsc'), false],
  ['both chains of a stream', { chains: ['bsc', 'ethereum'] }, aboutStream('native-bridge:ethereum:bsc'), true],
  ["an emitter's stream: its source", { chains: ['ethereum'] }, aboutStream(`wormhole-token-bridge:ethereum:${'0'.repeat(64)}`), true],
  ['a stream without a chain in its name', { chains: ['ethereum'] }, aboutStream('nothing'), false],
  ['a lane: that lane', { lanes: [lane] }, { lane, chains: ['bsc'] }, true],
  ['a lane: another lane', { lanes: [lane] }, { lane: lane.replace('a', 'b'), chains: ['bsc'] }, false],
  ['a lane: a transfer', { lanes: [lane] }, aboutTransfer('bsc'), false],
  ['a lane and another chain', { lanes: [lane], chains: ['ethereum'] }, { lane, chains: ['bsc'] }, false],
  ['a chain: a lane that the config does not have', { chains: ['bsc'] }, { lane }, false],
  ['a chain: its halt', { chains: ['bsc'] }, aboutSettings([{ kind: 'halt', scope: { targetChain: 'bsc' } }]), true],
  ['a chain: a halt of everything', { chains: ['bsc'] }, aboutSettings([{ kind: 'halt', scope: {} }]), false],
  ['a chain: a halt of a bridge', { chains: ['bsc'] }, aboutSettings([{ kind: 'halt', scope: { bridge: 'native-bridge' } }]), false],
  [
    'a chain: a good order with another behind it',
    { chains: ['bsc'] },
    aboutSettings([
      { kind: 'clearNode', chain: 'bsc', name: 'node-1' },
      { kind: 'clearNode', chain: 'ethereum', name: 'node-1' },
    ]),
    false,
  ],
  ['a chain: a token', { chains: ['bsc'] }, aboutSettings([{ kind: 'revokeToken', jti: 'x' }]), false],
  ['a chain: a recipient there', { chains: ['bsc'] }, aboutSettings([{ kind: 'deny', what: 'recipient', value: 'bsc/0xaa' }]), true],
  ['a chain: a recipient everywhere', { chains: ['bsc'] }, aboutSettings([{ kind: 'deny', what: 'recipient', value: '0xaa' }]), false],
  ['a chain: a token of Wormhole', { chains: ['bsc'] }, aboutSettings([{ kind: 'deny', what: 'token', value: '4/aa' }]), false],
  ['a lane: its fees', { lanes: [lane] }, aboutSettings([{ kind: 'setFees', scope: { kind: 'lane', lane }, policy: {} }]), true],
  ['a chain: fees of everything', { chains: ['bsc'] }, aboutSettings([{ kind: 'setFees', scope: { kind: 'global' }, policy: {} }]), false],
])('a token allows an order only within its scope: %s', (_, scope, about, isAllowed) => {
  const check = () => assertScope(principal(scope), 'lane pause', about)
  if (isAllowed) expect(check).not.toThrow()
  else expect(check).toThrow(expect.objectContaining({ code: 'ACCESS_SCOPE' }))
})

test('the refusal of an order outside the scope says what the token covers and what the order concerns', () => {
  const facts = { operation: 'lane pause', name: 'alice' }
  const refusal = (scope: AccessScope, about: OrderSubject) => () => assertScope(principal(scope), 'lane pause', about)
  const both = { chains: ['bsc', 'base'], lanes: [lane, 'x'] }
  expect(refusal(both, { chains: ['bsc', 'ethereum'], lane })).toThrow(
    expect.objectContaining({ facts: { ...facts, chains: 'bsc,base', lanes: `${lane},x`, about: `bsc,ethereum ${lane}` } }),
  )
  expect(refusal({ chains: ['bsc'] }, {})).toThrow(expect.objectContaining({ facts: { ...facts, chains: 'bsc', about: 'all chains' } }))
})

describe('the list of tokens', () => {
  const revoked = { by: 'bob', reason: 'stolen', at: 1 }

  test('only the revoked token is refused', () => {
    expect(() => assertNotRevoked(principal({ jti: 'x' }), [{ jti: 'x', revoked }])).toThrow(
      expect.objectContaining({ code: 'ACCESS_TOKEN_REVOKED', facts: { jti: 'x' } }),
    )
    expect(() => assertNotRevoked(principal({ jti: 'y' }), [{ jti: 'x', revoked }, { jti: 'y' }])).not.toThrow()
    expect(() => assertNotRevoked(principal({ jti: 'y' }))).not.toThrow()
  })

  const ringOf = (...keys: readonly AccessKey[]) => createKeyRing({ dataFolder: folder, publicKeys: keys.map(({ x }) => x) })

  test('no token is accepted before the list of revoked tokens is known', async () => {
    const token = await signedWith({ jti: 'x' })
    const check = (tokens: readonly { jti: string; revoked?: typeof revoked }[] | undefined) =>
      authenticate(token, { ring: ringOf(key), audience: 'default', tokens: () => tokens })
    expect(await check([])).toMatchObject({ jti: 'x', kid: key.kid })
    await expect(check(undefined)).rejects.toMatchObject({
      code: 'SETTINGS_UNREACHABLE',
      about: 'The list of revoked tokens is not known yet.',
    })
    await expect(check([{ jti: 'x', revoked }])).rejects.toMatchObject({ code: 'ACCESS_TOKEN_REVOKED' })
  })

  const expiresAt = 1_000_000
  test.each<[string, { at?: number; kid?: string; tokens?: readonly { jti: string; revoked?: typeof revoked }[] }, string]>([
    ['nothing has changed', {}, 'good'],
    ['another token was revoked', { tokens: [{ jti: 'x', revoked }] }, 'good'],
    ['the list of tokens is not known for a while', { tokens: undefined }, 'good'],
    ['it expires in a millisecond', { at: expiresAt - 1 }, 'good'],
    ['it has just expired', { at: expiresAt }, 'ACCESS_TOKEN_EXPIRED'],
    ['it was revoked', { tokens: [{ jti: 'j', revoked }] }, 'ACCESS_TOKEN_REVOKED'],
    ['its key was removed', { kid: 'k'.repeat(43) }, 'ACCESS_TOKEN_INVALID'],
  ])('during a long request, a token is checked again: %s', async (_, { at = 0, kid = key.kid, ...list }, outcome) => {
    vi.spyOn(Date, 'now').mockReturnValue(at)
    const other = { ...key, x: 'A'.repeat(43) }
    const tokens = 'tokens' in list ? list.tokens : []
    const check = assertStillGood(principal({ kid, expiresAt }), { ring: ringOf(other, key), tokens: () => tokens })
    expect(
      await check.then(
        () => 'good',
        ({ code }) => code,
      ),
    ).toBe(outcome)
  })
})

test.each<[string | undefined, string | undefined]>([
  ['Bearer abc.def-_~+/=', 'abc.def-_~+/='],
  ['bearer abc', 'abc'],
  ['Bearer  abc', undefined],
  ['Bearer abc def', undefined],
  ['x Bearer abc', undefined],
  ['Basic abc', undefined],
  ['', undefined],
  [undefined, undefined],
])('the token of the header %j is %j', (header, token) => expect(bearerOf(header)).toBe(token))
