import { z } from 'zod'
import { hostAndPort, variable } from './values.ts'

const file = z.string().min(1)

const tlsSchema = z.strictObject({
  caFile: file.optional().describe("PEM file with the CAs that may sign the server's certificate; absent: those that Node trusts."),
  certificateFile: file.optional().describe('PEM file with our certificate, and its chain (mTLS); read again when it changes.'),
  keyFile: file.optional().describe('PEM file with the private key of our certificate; read again when it changes.'),
  serverName: z.string().min(1).optional().describe("The name that must be in the server's certificate; absent: the host of the address."),
  disabled: z.boolean().default(false).describe('true: plain text, even with an API key, which everybody on the way can then read.'),
})

export const temporalSchema = z
  .strictObject({
    address: hostAndPort.default('127.0.0.1:7233').describe('host:port of the Temporal frontend.'),
    namespace: z.string().min(1).default('default').describe('The Temporal namespace that holds the workflows.'),
    tls: tlsSchema
      .optional()
      .describe('TLS to Temporal. {} is TLS without a certificate of ours; absent: TLS only where there is an API key.'),
    apiKeyFile: file
      .optional()
      .describe('A file whose only text is the API key (a JWT, or a key of Temporal Cloud); read again when it changes.'),
    apiKeyVariable: variable.optional().describe('The environment variable that holds the API key.'),
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
