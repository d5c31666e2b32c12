import { z } from 'zod'
import { hostAndPort, linkUrl, variable } from '../load/values.ts'

const file = z.string().min(1)

const tlsSchema = z.strictObject({
  caFile: file.optional().describe("PEM file with the CAs that may sign the server's certificate; absent: those that Node trusts."),
  certificateFile: file.optional().describe('PEM file with our certificate, and its chain (mTLS); read again when it changes.'),
  keyFile: file.optional().describe('PEM file with the private key of our certificate; read again when it changes.'),
  serverName: z.string().min(1).optional().describe("The name that must be in the server's certificate; absent: the host of the address."),
  disabled: z.boolean().default(false).describe('true: plain text, even with an API key, which everybody on the way can then read.'),
})

const payloadKeySchema = z
  .strictObject({
    id: z
      .string()
      .regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be letters, digits and . _ -, at most 64')
      .describe('Its name, which stands in clear beside every payload that it encrypted: never give it to another key.'),
    keyFile: file
      .optional()
      .describe('A file whose only text is the key: 32 bytes in base64 or hex, as `openssl rand -base64 32` makes it.'),
    keyVariable: variable.optional().describe('The environment variable that holds the key.'),
  })
  .refine(
    ({ keyFile, keyVariable }) => (keyFile === undefined) !== (keyVariable === undefined),
    'must have keyFile or keyVariable, and not both',
  )

const encryptionSchema = z.strictObject({
  keys: z
    .array(payloadKeySchema)
    .min(1)
    .max(20)
    .refine((keys) => new Set(keys.map(({ id }) => id)).size === keys.length, 'must have an id of its own for each key')
    .describe('The first encrypts; all of them decrypt. docs/operate/temporal/encryption.md, "Change the key".'),
  required: z
    .boolean()
    .default(false)
    .describe(
      'true: payloads that are not encrypted are refused. Signals without arguments have none, and are obeyed: docs/operate/temporal/encryption.md. Only once nothing plain is left there.',
    ),
})

export const temporalSchema = z
  .strictObject({
    address: hostAndPort.default('127.0.0.1:7233').describe('host:port of the Temporal frontend.'),
    namespace: z.string().min(1).default('default').describe('The Temporal namespace that holds the workflows.'),
    webUi: linkUrl.optional().describe("Base URL of Temporal's Web UI, for links of the page. Absent: no links."),
    tls: tlsSchema
      .optional()
      .describe('TLS to Temporal. {} is TLS without a certificate of ours; absent: TLS only where there is an API key.'),
    apiKeyFile: file
      .optional()
      .describe('A file whose only text is the API key (a JWT, or a key of Temporal Cloud); read again when it changes.'),
    apiKeyVariable: variable.optional().describe('The environment variable that holds the API key.'),
    encryption: encryptionSchema
      .optional()
      .describe(
        'Everything that Temporal keeps of workflows is encrypted by Portage (AES-256-GCM), but ids, search attributes and trace headers. The same for every process and command. Absent: plain.',
      ),
    profile: z.string().min(1).optional().describe('The profile of temporal.toml; TEMPORAL_PROFILE goes before it; absent: default.'),
    useEnvironment: z
      .boolean()
      .default(true)
      .describe(
        "Temporal's own settings replace those of this map: first a profile of temporal.toml, then the variables TEMPORAL_*. false: neither is read.",
      ),
  })
  .prefault({})
  .describe('The Temporal server, and who we are to it.')
