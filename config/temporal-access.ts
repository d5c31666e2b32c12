import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type ClientConfigProfile, loadClientConfigProfile } from '@temporalio/envconfig'
import { z } from 'zod'
import type { CredentialSource, PayloadEncryption, PayloadKeySource, TemporalAccess } from '../domain/temporal-access.ts'
import { fileSource, textSource, variableSource } from './credential-sources.ts'
import { invalid } from './load/problems.ts'
import type { Config } from './schema/schema.ts'
import { hostAndPort } from './load/values.ts'

type TemporalConfig = Config['temporal']

/** Settings from one place: the TEMPORAL_* variables, a profile, or the config. `from` names the place of a setting. */
interface Layer {
  readonly profile: Profile
  readonly from: (name: Name, isFile?: boolean) => string
  /** The API key of the config. It is not part of `profile`, because there the key can only be a text. */
  readonly apiKey?: CredentialSource
}

export interface ResolvedTemporal extends TemporalAccess {
  readonly settings: readonly { readonly name: string; readonly value?: string; readonly from: string }[]
}

/** TEMPORAL_* variables override a profile of temporal.toml, which overrides the config. Throws CONFIG_INVALID. */
export function resolveTemporal(config: TemporalConfig, env: NodeJS.ProcessEnv): ResolvedTemporal {
  const layers = [configLayer(config, env)]
  if (config.useEnvironment) layers.push(profileLayer(config, set(env)), variableLayer(set(env)))
  const last = <Value>(read: (layer: Layer) => Value | undefined) => layers.flatMap((layer) => read(layer) ?? []).at(-1)
  const setting = <Value>(name: Name, read: (profile: Profile) => Value | undefined) =>
    last(({ profile, from }) => {
      const value = read(profile)
      return value === undefined ? undefined : { value, from: from(name) }
    })
  const credential = (name: Name, read: (profile: Profile) => z.output<typeof source>) =>
    last(({ profile, from }) => {
      const one = read(profile)
      if (!one) return undefined
      if ('path' in one) return fileSource(resolve(one.path), from(name, true))
      return textSource(Buffer.from(one.data).toString('utf8'), from(name, false))
    })
  const [address, namespace] = [setting('address', (one) => one.address), setting('namespace', (one) => one.namespace)]
  const tls = setting('tls', (one) => one.tls)
  const tlsDisabled = setting('tlsDisabled', (one) => one.tls?.disabled)
  const serverName = setting('serverName', (one) => one.tls?.serverName)
  const ca = credential('ca', (one) => one.tls?.serverCACert)
  const certificate = credential('certificate', (one) => one.tls?.clientCert)
  const key = credential('key', (one) => one.tls?.clientKey)
  const apiKey = last(({ profile, from, apiKey: own }) => own ?? (profile.apiKey ? textSource(profile.apiKey, from('apiKey')) : undefined))
  const headers = setting('headers', ({ grpcMeta = {} }) => (Object.keys(grpcMeta).length > 0 ? grpcMeta : undefined))
  // As in all SDKs of Temporal, an API key implies TLS, unless TLS is turned off explicitly.
  const usesTls = tlsDisabled?.value !== true && (tls ?? apiKey) !== undefined
  const switchedBy = tlsDisabled ?? tls ?? apiKey
  const shown = { address, namespace, serverName, tls: switchedBy && { value: usesTls ? 'on' : 'disabled', from: switchedBy.from } }
  const secret = { ca, certificate, key, apiKey, headers }
  const encryption = payloadEncryption(config, env)
  return {
    address: address?.value ?? config.address,
    namespace: namespace?.value ?? config.namespace,
    ...(usesTls && { tls: { serverName: serverName?.value, ca, certificate, key } }),
    ...(apiKey && { apiKey }),
    ...(headers && { headers: headers.value }),
    ...(encryption && { encryption }),
    settings: [
      ...Object.entries(shown).flatMap(([name, one]) => (one ? [{ name, value: one.value, from: one.from }] : [])),
      ...Object.entries(secret).flatMap(([name, one]) => (one ? [{ name, from: one.from }] : [])),
    ],
  }
}

function payloadEncryption({ encryption }: TemporalConfig, env: NodeJS.ProcessEnv): PayloadEncryption | undefined {
  if (!encryption) return undefined
  const { keys, required } = encryption
  const sources = keys.map(({ id, keyFile, keyVariable = '' }, index): PayloadKeySource => {
    const path = `temporal.encryption.keys[${index}].keyVariable`
    return { id, source: keyFile === undefined ? variableSource(path, keyVariable, env) : fileSource(keyFile, 'the config file') }
  })
  return { keys: sources, required }
}

function configLayer({ address, namespace, tls, apiKeyFile, apiKeyVariable }: TemporalConfig, env: NodeJS.ProcessEnv): Layer {
  const from = 'the config file'
  const file = (path: string | undefined) => (path === undefined ? undefined : { path })
  if (apiKeyFile !== undefined && apiKeyVariable !== undefined) {
    throw problem('temporal', 'has apiKeyFile and apiKeyVariable', 'Remove one of them.')
  }
  const files = { serverCACert: file(tls?.caFile), clientCert: file(tls?.certificateFile), clientKey: file(tls?.keyFile) }
  return {
    profile: { address, namespace, tls: tls && { ...tls, ...files } },
    from: () => from,
    ...(apiKeyFile !== undefined && { apiKey: fileSource(apiKeyFile, from) }),
    ...(apiKeyVariable !== undefined && { apiKey: variableSource('temporal.apiKeyVariable', apiKeyVariable, env) }),
  }
}

function profileLayer({ profile: configured }: TemporalConfig, env: Record<string, string>): Layer {
  const file = env['TEMPORAL_CONFIG_FILE']
  if (file !== undefined && !existsSync(file)) {
    throw problem('TEMPORAL_CONFIG_FILE', 'names a file that does not exist', 'Correct it, or unset it.')
  }
  const profile = env['TEMPORAL_PROFILE'] ?? configured
  const where = `profile ${profile ?? 'default'} of ${file ?? 'temporal.toml'}`
  const read = () => {
    try {
      return loadClientConfigProfile({ ...(profile && { profile }), disableEnv: true, configFileStrict: true, overrideEnvVars: env })
    } catch (cause) {
      // @temporalio/envconfig 1.24 throws a TypeError for a file without a profile.
      if (!(cause instanceof TypeError)) throw cause
      if (profile === undefined) return {}
      throw new Error('the file has no profile', { cause })
    }
  }
  return { profile: load(where, read), from: () => where }
}

const variables = {
  address: 'TEMPORAL_ADDRESS',
  namespace: 'TEMPORAL_NAMESPACE',
  tls: 'TEMPORAL_TLS_*',
  tlsDisabled: 'TEMPORAL_TLS',
  serverName: 'TEMPORAL_TLS_SERVER_NAME',
  ca: 'TEMPORAL_TLS_SERVER_CA_CERT',
  certificate: 'TEMPORAL_TLS_CLIENT_CERT',
  key: 'TEMPORAL_TLS_CLIENT_KEY',
  apiKey: 'TEMPORAL_API_KEY',
  headers: 'TEMPORAL_GRPC_META_*',
}
type Name = keyof typeof variables

function variableLayer(env: Record<string, string>): Layer {
  // The SDK reads every text that it does not know as false, so `yes` would turn TLS off.
  if (!['1', 'true', '0', 'false', undefined].includes(env['TEMPORAL_TLS'])) {
    throw problem('TEMPORAL_TLS', 'is neither true nor false', 'Set it to true or false.')
  }
  if (['1', 'true'].includes(env['TEMPORAL_TLS_DISABLE_HOST_VERIFICATION'] ?? '')) {
    const remedy =
      'Unset it, and name the CA of the server: TEMPORAL_TLS_SERVER_CA_CERT_PATH, or TEMPORAL_TLS_SERVER_NAME for another host name.'
    throw problem('TEMPORAL_TLS_DISABLE_HOST_VERIFICATION', "is not possible with Temporal's TypeScript SDK", remedy)
  }
  const profile = load('the variables TEMPORAL_*', () => loadClientConfigProfile({ disableFile: true, overrideEnvVars: env }))
  return { profile, from: (name, isFile) => variables[name] + (isFile === undefined ? '' : isFile ? '_PATH' : '_DATA') }
}

/** Empty variables count as unset, because containers often set empty defaults. */
function set(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value ? [[name, value]] : [])))
}

const text = z.string().min(1).optional()
const source = z
  .union([z.object({ path: z.string().min(1) }), z.object({ data: z.union([z.string(), z.instanceof(Uint8Array)]) })])
  .optional()
const profileSchema = z.object({
  address: hostAndPort.optional(),
  namespace: text,
  apiKey: text,
  tls: z
    .object({ disabled: z.boolean().optional(), serverName: text, clientCert: source, clientKey: source, serverCACert: source })
    .optional(),
  // gRPC requires printable ASCII (gRPC over HTTP2, "Custom-Metadata").
  grpcMeta: z.record(z.string(), z.string().regex(/^[ -~]*$/)).optional(),
})
type Profile = z.output<typeof profileSchema>

/** Reads and checks a profile. Throws CONFIG_INVALID without the text of the file, which may contain a secret. */
function load(where: string, read: () => ClientConfigProfile): Profile {
  let profile: ClientConfigProfile
  try {
    profile = read()
  } catch (cause) {
    const [why] = (cause instanceof Error ? cause.message : String(cause)).split('\n')
    throw problem(where, `cannot be used: ${why}`, 'Correct it; temporal.useEnvironment: false does without it.')
  }
  const parsed = profileSchema.safeParse(profile)
  if (parsed.success) return parsed.data
  const fields = parsed.error.issues.map(({ path }) => path.join('.')).join(', ')
  throw problem(where, `has a wrong value in ${fields}`, 'Correct it; temporal.useEnvironment: false does without it.')
}

function problem(path: string, what: string, remedy: string) {
  return invalid('Temporal', [{ path, problem: what, remedy }])
}
