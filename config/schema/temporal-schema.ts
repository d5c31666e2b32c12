import { optional, z } from 'zod'
import { host, hostAndPort, linkUrl, listOf, oneOf, path, text, usually, variable } from '../load/values.ts'

const tlsSchema = z.strictObject({
  caFile: optional(path).describe("PEM file with the CAs of the server's certificate. Absent: the CAs that Node trusts."),
  certificateFile: optional(path).describe(
    'PEM file with the client certificate and its chain (mTLS). Portage reads a changed file again.',
  ),
  keyFile: optional(path).describe('PEM file with the private key of the client certificate. Portage reads a changed file again.'),
  serverName: optional(host).describe("Name in the server's certificate. Absent: the host of the address."),
  disabled: usually(z.boolean(), false).describe('true: plain text, in which anyone on the network can read the API key.'),
})

const payloadKeySchema = z
  .strictObject({
    id: text(/^[A-Za-z0-9._-]{1,64}$/, 'must be letters, digits and . _ -, at most 64').describe(
      'Key id, stored in clear with every payload that the key encrypted. Never reuse the id for another key.',
    ),
    keyFile: optional(path).describe('A file with only the key: 32 bytes in base64 or hex, such as from `openssl rand -base64 32`.'),
    keyVariable: optional(variable).describe('Environment variable with the key.'),
  })
  .refine(...oneOf('keyFile', 'keyVariable'))

const encryptionSchema = z.strictObject({
  keys: listOf(payloadKeySchema, 1, 20)
    .refine((keys) => new Set(keys.map(({ id }) => id)).size === keys.length, 'must have an id of its own for each key')
    .describe('The first key encrypts, all keys decrypt. docs/operate/temporal/encryption.md, "Change the key".'),
  required: usually(z.boolean(), false).describe(
    'true: Portage refuses unencrypted payloads. Set true when no unencrypted payload is left. Portage still obeys signals without arguments, which have no payload: docs/operate/temporal/encryption.md.',
  ),
})

export const temporalSchema = z
  .strictObject({
    address: usually(hostAndPort, '127.0.0.1:7233').describe('host:port of the Temporal frontend.'),
    namespace: usually(text(/^\S{1,255}$/, 'must be a name without spaces'), 'default').describe(
      'The Temporal namespace that holds the workflows.',
    ),
    webUi: optional(linkUrl).describe("Base URL of Temporal's Web UI, for links of the page. Absent: the page has no such links."),
    tls: optional(tlsSchema).describe('TLS to Temporal. {}: TLS without a client certificate. Absent: TLS only with an API key.'),
    apiKeyFile: optional(path).describe(
      'A file with only the API key (a JWT or a key of Temporal Cloud). Portage reads a changed file again.',
    ),
    apiKeyVariable: optional(variable).describe('Environment variable with the API key.'),
    encryption: optional(encryptionSchema).describe(
      'Encrypts payloads (AES-256-GCM), but not ids, search attributes and trace headers. All processes need the same keys. Absent: no encryption.',
    ),
    profile: optional(z.string().min(1)).describe('Profile of temporal.toml. TEMPORAL_PROFILE overrides it. Absent: default.'),
    useEnvironment: usually(z.boolean(), true).describe(
      'true: a profile of temporal.toml and the variables TEMPORAL_* override this map. false: Portage reads neither of them.',
    ),
  })
  .prefault({})
  .describe('The Temporal server and the credentials for it.')
