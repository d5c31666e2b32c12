import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { redactFields, redactText, redactUrl } from '../../observability/redact.ts'

const key = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

describe('URLs', () => {
  test.each([
    ['https://user:pass@node.example/v3/key?x=1#y', 'https://node.example'],
    ['http://127.0.0.1:8545', 'http://127.0.0.1:8545'],
    ['wss://node.example:8546/ws/key', 'wss://node.example:8546'],
    ['http://[::1]:8545/key', 'http://[::1]:8545'],
    ['not a url', '[url]'],
  ])('%s → %s', (url, redacted) => {
    expect(redactUrl(url)).toBe(redacted)
  })

  test('URLs in a text lose all but their origin, and the text around them stays', () => {
    const text = 'node (https://node.example/v3/key?apikey=1) failed: "wss://u:p@b.example/s3cret", then http://c.example/x.'
    expect(redactText(text)).toBe('node (https://node.example) failed: "wss://b.example", then http://c.example.')
  })

  test('redaction hides any path, query and password of a URL', () => {
    const secret = fc.stringMatching(/^[A-Za-z0-9_-]{8,40}$/)
    const around = fc.stringMatching(/^[a-z ]{0,10}$/)
    fc.assert(
      fc.property(secret, secret, secret, around, (path, query, password, before) => {
        const text = `${before} https://user:${password}@host.example/${path}?key=${query} failed`
        expect(redactText(text)).toBe(`${before} https://host.example failed`)
      }),
    )
  })
})

describe('texts', () => {
  test.each([
    [`private key: 0x${key}`, 'private key: [redacted]'],
    ['PASSWORD=hunter2, then', 'PASSWORD=[redacted], then'],
    ['{"apiKey":"abc"}', '{"apiKey":"[redacted]"}'],
    ['authorization: Bearer abc.def', 'authorization: [redacted]'],
    ['sent bearer abc.def=', 'sent bearer [redacted]'],
    ['authorization: Basic cmVsYXk6aHVudGVyMg==', 'authorization: [redacted]'],
    ['sent Basic cmVsYXk6aHVudGVyMg==.', 'sent basic [redacted].'],
    ['a basic authentication', 'a basic authentication'],
    ['authorization: Token s3cret, then', 'authorization: [redacted], then'],
    ['{"Authorization":"Token s3cret","host":"a"}', '{"Authorization":"[redacted]","host":"a"}'],
    ['(proxy-authorization=ApiKey s3cret) failed', '(proxy-authorization=[redacted]) failed'],
    ['authorization: s3cret', 'authorization: [redacted]'],
    ['authorization: Bearer\n abc.def\nhost: a', 'authorization: [redacted]\nhost: a'],
    ['authorization: Token token="s3cret", nonce="b c"', 'authorization: [redacted]'],
    [
      'authorization: AWS4-HMAC-SHA256 Credential=s3cret/20261201, SignedHeaders=host, Signature=ab12\nhost: a',
      'authorization: [redacted]\nhost: a',
    ],
    ['{"authorization":"Digest user=\\"a\\",response=\\"s3cret\\""}', '{"authorization":"[redacted]"}'],
  ])('%s → %s', (text, redacted) => {
    expect(redactText(text)).toBe(redacted)
  })

  test('digests, hashes and addresses stay: people need them', () => {
    const text = `digest 0x${key}, tokenBridge: 0x${'b0'.repeat(20)}, token: 0x${'0'.repeat(64)}`
    expect(redactText(text)).toBe(text)
  })
})

describe('fields', () => {
  test('fields with secret names are hidden, and fields that say where a secret is are not', () => {
    expect(
      redactFields({
        password: 'hunter2',
        passwordFile: 'a.txt',
        passwordVariable: 'PW',
        laneKey: key,
        txHash: `0x${key}`,
        key: 'chain:ethereum',
        mnemonic: 'a b c',
      }),
    ).toEqual({
      password: '[redacted]',
      passwordFile: 'a.txt',
      passwordVariable: 'PW',
      laneKey: '[redacted]',
      txHash: `0x${key}`,
      key: 'chain:ethereum',
      mnemonic: '[redacted]',
    })
  })

  test('fields of log lines are plain JSON, at any depth, with errors and their causes', () => {
    const cause = new Error('https://node.example/secret refused')
    const error = Object.assign(new Error('no answer', { cause }), { code: 'NODE_UNAVAILABLE', stack: 'at https://node.example/secret' })
    const redacted = redactFields({
      nested: { list: [{ privateKey: key }] },
      wei: 10n ** 20n,
      bytes: new Uint8Array(3),
      url: new URL('http://a.example/s'),
      error,
    })
    cause.stack = ''
    expect(redacted).toEqual({
      nested: { list: [{ privateKey: '[redacted]' }] },
      wei: '100000000000000000000',
      bytes: '[3 bytes]',
      url: 'http://a.example',
      error: {
        name: 'Error',
        code: 'NODE_UNAVAILABLE',
        message: 'no answer',
        stack: 'at https://node.example',
        cause: { name: 'Error', message: 'https://node.example refused', stack: expect.not.stringContaining('secret') },
      },
    })
    expect(JSON.stringify(redacted)).not.toContain(key)
  })

  test('fields that refer to themselves are cut', () => {
    const loop: Record<string, unknown> = {}
    loop['self'] = loop
    expect(JSON.stringify(redactFields(loop))).toContain('[deep]')
  })
})
