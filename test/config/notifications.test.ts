import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { parseConfig } from '../../config/load/load.ts'
import { receiversOf } from '../../config/receivers.ts'
import { redactText } from '../../observability/redact.ts'

const chain = {
  family: 'evm',
  networkId: 1,
  nodes: [{ url: 'http://127.0.0.1:1' }],
  blockTimeMs: 1_000,
  contracts: { core: `0x${'a'.repeat(40)}`, tokenBridge: `0x${'b'.repeat(40)}` },
}
const receiver = { name: 'pager', url: 'https://pager.example/hook', secrets: [{ secretFile: 'secret' }], events: ['stream.gap'] }

function problemsOf(...notifications: readonly object[]): string {
  try {
    parseConfig(stringify({ chains: { ethereum: chain }, bridges: {}, notifications }), {}, 'a test')
    return ''
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

describe('receivers of notifications in the config', () => {
  test('valid receivers have no problems, and a config without receivers has none', () => {
    expect(problemsOf(receiver)).toBe('')
    expect(problemsOf({ ...receiver, secrets: [{ secretVariable: 'A' }, { secretFile: 'b' }], chains: ['ethereum', 'wormhole-21'] })).toBe(
      '',
    )
    expect(parseConfig(stringify({ chains: { ethereum: chain }, bridges: {} }), {}, 'a test').notifications).toEqual([])
  })

  test.each(['https://pager.example', 'https://10.0.0.1/hook', 'http://127.0.0.1:9/x', 'http://localhost/x', 'http://[::1]:8/x'])(
    'a receiver may be at %s',
    (url) => expect(problemsOf({ ...receiver, url })).toBe(''),
  )

  test.each([
    'http://pager.example/s3cret',
    'http://10.0.0.1/s3cret',
    'http://127.0.0.1.example/s3cret',
    'https://user:s3cret@pager.example/',
    'https://pager.example/#s3cret',
    'ftp://pager.example/s3cret',
    'javascript:s3cret',
    'https://169.254.169.254/s3cret',
    'https://2852039166/s3cret',
    'https://[fe80::1]/s3cret',
    'https://[::ffff:169.254.169.254]/s3cret',
    'https://metadata.google.internal/s3cret',
    'https://metadata.google.internal./s3cret',
    'https://[::169.254.169.254]/s3cret',
    'https://[64:ff9b::a9fe:a9fe]/s3cret',
    'https://[fd00:ec2::254]/s3cret',
    'https://[fd20:ce::254]/s3cret',
    'https://100.100.100.200/s3cret',
    'https://0.0.0.0/s3cret',
    'https:pager.example/s3cret',
    'https://pager.exa\nmple/s3cret',
  ])('a receiver at %s is refused, and the error does not quote the URL', (url) => {
    const problems = problemsOf({ ...receiver, url })
    expect(problems).toContain('notifications[0].url must')
    expect(redactText(problems)).not.toContain('s3cret')
  })

  test.each<[string, object, string]>([
    ['no secret', { secrets: [] }, 'notifications[0].secrets'],
    ['a secret that is in no file and no variable', { secrets: [{}] }, 'secretFile or secretVariable'],
    ['a literal secret', { secrets: [{ secret: 'whsec_x' }] }, 'notifications[0].secrets[0]'],
    ['an unknown event', { events: ['transfer.lost'] }, 'notifications[0].events[0]'],
    ['an unknown chain', { chains: ['bsc'] }, 'notifications[0].chains[0] is not one of the chains of this config'],
    ['an unknown bridge', { bridges: ['x'] }, 'notifications[0].bridges[0] is not one of the bridges of this config'],
    ['a lane that is none', { lanes: ['0xaa'] }, 'notifications[0].lanes[0]'],
  ])('an error about a receiver with %s names the field', (_, change, problem) =>
    expect(problemsOf({ ...receiver, ...change })).toContain(problem),
  )

  test('each receiver of notifications needs a name of its own', () => {
    expect(problemsOf(receiver, receiver)).toContain('notifications[1].name is that of notifications[0], too')
  })

  test('a config whose secret is in a variable that is not set names the field', () => {
    const notifications = [
      { name: 'a', url: 'https://a.example', secrets: [{ secretVariable: 'NOT_SET' }], events: ['stream.gap' as const] },
    ]
    expect(() => receiversOf({ notifications }, {})).toThrow(
      /notifications\[0\]\.secrets\[0\]\.secretVariable needs the environment variable NOT_SET/,
    )
  })
})
