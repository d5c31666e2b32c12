import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { temporalSchema } from '../../config/schema/temporal-schema.ts'
import { resolveTemporal } from '../../config/temporal-access.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const folder = temporaryFolder()
let toml = ''
beforeAll(async () => {
  toml = join(folder, 'temporal.toml')
  await writeFile(
    toml,
    `[profile.default]
address = "toml.example:7233"
namespace = "toml"
api_key = "secret-of-toml"
[profile.default.tls]
server_name = "name.example"
client_cert_path = "/toml/client.pem"
client_key_data = "secret-key-of-toml"
[profile.bare]
address = "bare.example:7233"
`,
  )
})

const config = (input: object) => temporalSchema.parse({ address: 'config.example:7233', namespace: 'config', ...input })
const origins = (settings: ReturnType<typeof resolveTemporal>['settings']) =>
  Object.fromEntries(settings.map(({ name, from }) => [name, from]))

describe('which setting counts', () => {
  test('a profile of temporal.toml replaces the config, and a variable replaces both, value by value', () => {
    const env = { TEMPORAL_CONFIG_FILE: toml, TEMPORAL_NAMESPACE: 'variable', TEMPORAL_TLS_CLIENT_KEY_PATH: '/variable/client.key' }
    const found = resolveTemporal(config({ tls: { caFile: '/config/ca.pem' }, apiKeyFile: '/config/key' }), env)
    expect(found).toMatchObject({
      address: 'toml.example:7233',
      namespace: 'variable',
      tls: {
        serverName: 'name.example',
        ca: { file: '/config/ca.pem' },
        certificate: { file: '/toml/client.pem' },
        key: { file: '/variable/client.key' },
      },
    })
    expect(found.apiKey?.read()).toBe('secret-of-toml')
    const profile = `profile default of ${toml}`
    expect(origins(found.settings)).toEqual({
      address: profile,
      namespace: 'TEMPORAL_NAMESPACE',
      serverName: profile,
      tls: 'the config file',
      ca: 'the config file',
      certificate: profile,
      key: 'TEMPORAL_TLS_CLIENT_KEY_PATH',
      apiKey: profile,
    })
  })

  test('the resolved settings print no secret', () => {
    const env = { TEMPORAL_CONFIG_FILE: toml, TEMPORAL_GRPC_META_X_KEY: 'secret-header' }
    const { headers: _, ...found } = resolveTemporal(config({ apiKeyVariable: 'MINE' }), { ...env, MINE: 'secret-mine' })
    expect(JSON.stringify(found) + inspect(found, { depth: 9 })).not.toContain('secret')
  })

  test('TEMPORAL_PROFILE overrides the profile in the config', () => {
    const env = { TEMPORAL_CONFIG_FILE: toml }
    expect(resolveTemporal(config({ profile: 'bare' }), env)).toMatchObject({ address: 'bare.example:7233', namespace: 'config' })
    expect(resolveTemporal(config({ profile: 'bare' }), { ...env, TEMPORAL_PROFILE: 'default' }).address).toBe('toml.example:7233')
  })

  test('with useEnvironment: false, only the config counts', () => {
    const env = { TEMPORAL_CONFIG_FILE: toml, TEMPORAL_ADDRESS: 'variable.example:7233', TEMPORAL_TLS: 'yes' }
    const { address, tls, apiKey } = resolveTemporal(config({ useEnvironment: false }), env)
    expect([address, tls, apiKey]).toEqual(['config.example:7233', undefined, undefined])
  })

  test('an empty variable counts as unset', () => {
    const env = { TEMPORAL_ADDRESS: '', TEMPORAL_API_KEY: '', TEMPORAL_TLS: '', TEMPORAL_CONFIG_FILE: '' }
    const { address, tls, apiKey } = resolveTemporal(config({}), env)
    expect([address, tls, apiKey]).toEqual(['config.example:7233', undefined, undefined])
  })

  test('an API key turns on TLS; plain text must be configured', () => {
    expect(resolveTemporal(config({}), { TEMPORAL_API_KEY: 'k' }).tls).toEqual({})
    expect(resolveTemporal(config({}), { TEMPORAL_API_KEY: 'k', TEMPORAL_TLS: 'false' }).tls).toBeUndefined()
    expect(resolveTemporal(config({ tls: { disabled: true } }), { TEMPORAL_API_KEY: 'k' }).tls).toBeUndefined()
    expect(resolveTemporal(config({ tls: { disabled: true } }), { TEMPORAL_TLS: 'true' }).tls).toEqual({})
    expect(resolveTemporal(config({ tls: {} }), {}).tls).toEqual({})
    const named = { TEMPORAL_TLS_SERVER_NAME: 'name.example' }
    expect(resolveTemporal(config({ tls: { disabled: true } }), named).tls).toBeUndefined()
    expect(resolveTemporal(config({}), named).tls).toEqual({ serverName: 'name.example' })
  })
})

describe('settings that are refused', () => {
  const refused = (env: NodeJS.ProcessEnv, input: object = {}) => {
    try {
      resolveTemporal(config(input), env)
    } catch (error) {
      return error
    }
    throw new Error('was not refused')
  }
  test.each<[string, NodeJS.ProcessEnv, string]>([
    ['a word that the SDK would take for false', { TEMPORAL_TLS: 'yes' }, 'TEMPORAL_TLS is neither true nor false'],
    ['no check of the server', { TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: '1' }, "is not possible with Temporal's TypeScript SDK"],
    [
      'a file and its text',
      { TEMPORAL_TLS_CLIENT_CERT_PATH: 'a', TEMPORAL_TLS_CLIENT_CERT_DATA: 'secret' },
      'Cannot specify both client_cert_path',
    ],
    ['a file that is not there', { TEMPORAL_CONFIG_FILE: '/no/such.toml' }, 'TEMPORAL_CONFIG_FILE names a file that does not exist'],
    ['a profile that is not there', { TEMPORAL_PROFILE: 'prod' }, "Profile 'prod' not found"],
  ])('a setting that cannot be used is refused: %s', (_, env, why) => {
    const error = refused(env)
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(why) })
    expect(String(error)).not.toContain('secret')
  })

  test('errors about temporal.toml do not quote its lines', async () => {
    const file = join(folder, 'broken.toml')
    const broken = [
      '[profile.default]\napi_key = "secret',
      '[profile.default]\napi_kee = "secret"',
      '[profile.default]\napi_key = 5',
      '[profile.default]\ngrpc_meta = { a = "secret\\nb" }',
    ]
    for (const text of broken) {
      await writeFile(file, text)
      const error = refused({ TEMPORAL_CONFIG_FILE: file })
      expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('profile default of') })
      expect(String(error)).not.toContain('secret')
    }
  })

  test('a temporal.toml without a profile sets nothing, and is an error if a variable names a profile', async () => {
    const file = join(folder, 'empty.toml')
    for (const text of ['', '# only a comment\n']) {
      await writeFile(file, text)
      expect(resolveTemporal(config({}), { TEMPORAL_CONFIG_FILE: file })).toEqual(resolveTemporal(config({}), {}))
      const named = refused({ TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'prod' })
      expect(named).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('the file has no profile') })
    }
  })

  test('a config with two API keys, or with a key whose variable is not set, is refused', () => {
    expect(refused({ K: 'k' }, { apiKeyFile: '/f', apiKeyVariable: 'K' })).toMatchObject({ code: 'CONFIG_INVALID' })
    expect(refused({}, { apiKeyVariable: 'K' })).toMatchObject({ message: expect.stringContaining('K, which is not set') })
  })
})

describe('keys of payloads', () => {
  const keys = [
    { id: 'new', keyFile: '/keys/new' },
    { id: 'old', keyVariable: 'OLD_KEY' },
  ]

  test("payload keys keep the order of the config, and Temporal's own variables do not change them", () => {
    const env = { OLD_KEY: 'secret-old', TEMPORAL_ADDRESS: 'variable.example:7233' }
    const { encryption, ...found } = resolveTemporal(config({ encryption: { keys } }), env)
    expect(encryption).toMatchObject({ required: false, keys: [{ id: 'new', source: { file: '/keys/new' } }, { id: 'old' }] })
    expect(encryption?.keys[1]?.source.read()).toBe('secret-old')
    expect(JSON.stringify([found, encryption]) + inspect([found, encryption], { depth: 9 })).not.toContain('secret')
    expect(resolveTemporal(config({}), env).encryption).toBeUndefined()
  })

  test('keys of payloads need the variable that the config names', () => {
    expect(() => resolveTemporal(config({ encryption: { keys } }), {})).toThrow(
      /temporal\.encryption\.keys\[1\]\.keyVariable needs the environment variable OLD_KEY, which is not set/,
    )
  })

  test.each([
    ['none', [], /at least|>=1/],
    ['one id twice', [keys[0], keys[0]], /an id of its own/],
    ['a file and a variable', [{ ...keys[0], keyVariable: 'OLD_KEY' }], /keyFile or keyVariable/],
    ['neither', [{ id: 'new' }], /keyFile or keyVariable/],
    ['an id with a space', [{ id: 'a b', keyFile: '/k' }], /letters, digits/],
    ['the key itself', [{ id: 'new', key: 'x' }], /[Uu]nrecognized key/],
  ])('wrong keys of payloads are refused: %s', (_, bad, why) => {
    expect(() => config({ encryption: { keys: bad } })).toThrow(why)
  })
})
