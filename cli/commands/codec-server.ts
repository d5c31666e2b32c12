import { Option } from 'commander'
import { createKeyRing } from '../../operations/access/keys.ts'
import { openCodecServer } from '../../operations/codec/server.ts'
import { invalid } from '../../operations/orders/spec.ts'
import { accessSource } from '../../config/data-folder.ts'
import type { IssuedToken } from '../../domain/settings/settings.ts'
import { createLogger, type LogLevel, logLevels } from '../../observability/logger.ts'
import { readSettings } from '../../temporal/client/settings/settings.ts'
import { createEncryptionCodec } from '../../temporal/encryption/codec.ts'
import { pause } from '../../runtime/wait.ts'
import type { Call, CommandSpec } from '../command.ts'
import { withInterrupt } from '../context.ts'
import { portOf } from '../arguments/options.ts'
import { problemOf } from '../../observability/severity.ts'

const everyMs = 10_000
const firstEveryMs = 1_000

export const codecServerCommand: CommandSpec = {
  description:
    "Decrypt payloads for Temporal's Web UI and command line, until SIGINT or SIGTERM. Logs go to stderr, as JSON lines unless --pretty.",
  options: (command) =>
    command
      .option(
        '--port <port>',
        'port of the codec server (default: codecServer.port in the config); with 0, the server takes a free port, and the log names it',
        portOf,
      )
      .addOption(new Option('--log-level <level>', 'lowest level that is logged').choices(logLevels).default('info'))
      .option('--pretty', 'readable log lines'),
  notes: `The codec server needs the keys of temporal.encryption and of access tokens, and no key of a lane. Every request needs an access token of any level. The server speaks plain HTTP.
If its address is not loopback, put a proxy with TLS in front of the server. docs/operate/temporal/encryption.md has the set-up of the Web UI.`,
  examples: [
    'portage codec-server --pretty',
    'temporal workflow show -w <id> --codec-endpoint http://127.0.0.1:8098 --codec-auth "Bearer $PORTAGE_TOKEN"',
  ],
  run: async ({ config, temporalOf, withTemporal, context, options }: Call<{ port?: number; logLevel: LogLevel; pretty?: true }>) => {
    const loaded = await config()
    const logger = createLogger({ level: options.logLevel, pretty: options.pretty ?? false })
    const codec = createEncryptionCodec(temporalOf(loaded).encryption)
    if (!codec.encrypts) throw invalid('The config has no `temporal.encryption`, which names the keys.')
    await withInterrupt(context, async (stopping) => {
      let known: readonly IssuedToken[] | undefined
      let warned = false
      // Each read opens a new connection, because credentials may be rotated. After a failed read, the last list stays
      // in use.
      const keepTokens = async () => {
        while (!stopping.aborted) {
          try {
            known = (await withTemporal((client) => readSettings(client))).tokens
            warned = false
          } catch (error) {
            if (!warned) logger.warn('the list of revoked tokens cannot be read', { ...problemOf(error) })
            warned = true
          }
          await pause(known ? everyMs : firstEveryMs, stopping)
        }
      }
      const ended = keepTokens()
      const check = { ring: createKeyRing(accessSource(loaded)), audience: loaded.temporal.namespace, tokens: () => known }
      const { host, port, hosts, origins } = loaded.codecServer
      const server = await openCodecServer({ host, port: options.port ?? port, hosts, origins, codec, check, logger })
      logger.info('the codec server listens', { host, port: server.port })
      await ended
      await server.close()
    })
  },
}
