import { Option } from 'commander'
import { unlistedToken, type UnlistedToken } from '../../operations/access/first-token.ts'
import { keyFile, makeKeys, readKeys, signingKey } from '../../operations/access/keys.ts'
import { signToken } from '../../operations/access/tokens.ts'
import { namesOf } from '../../config/chains.ts'
import { makeDataFolder } from '../../config/data-folder.ts'
import type { Config } from '../../config/schema/schema.ts'
import type { Principal } from '../../domain/access.ts'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import { laneAddress } from '../../domain/lane/lane.ts'
import { createLogger, type Logger, type LogLevel, logLevels } from '../../observability/logger.ts'
import { changeSettings } from '../../temporal/client/settings/settings.ts'
import { versionStatus } from '../../temporal/client/connection/deployments.ts'
import { deploymentOf, mustStartAgain } from '../../workers/process/deployment.ts'
import { type Role, roles } from '../../workers/roles/roles.ts'
import type { Call, CommandSpec } from '../command.ts'
import { type CliContext, withInterrupt } from '../context.ts'
import { collect, portOf } from '../arguments/options.ts'
import { problemOf } from '../../observability/severity.ts'

type RunOptions = { role: Role; chain?: string[]; lane?: string[]; adminPort?: number; logLevel: LogLevel; pretty?: true }

export const runCommand: CommandSpec = {
  description: 'Run a worker until SIGINT or SIGTERM. Logs go to stderr, as JSON lines unless --pretty.',
  options: (command) =>
    command
      .addOption(new Option('--role <role>', 'the work of this process').choices(roles).makeOptionMandatory())
      .option('--chain <name>', 'serve only this chain (may be repeated)', collect)
      .option('--lane <lane>', 'serve only this lane, by id or address (may be repeated)', collect)
      .option(
        '--admin-port <port>',
        'port of /healthz, /readyz and /metrics (default: admin.port in the config, else 0); with 0, Portage takes a free port, and the log names it',
        portOf,
      )
      .addOption(new Option('--log-level <level>', 'lowest level that is logged').choices(logLevels).default('info'))
      .option('--pretty', 'readable log lines'),
  notes: `Roles:
  all      everything below in one process
  keyless  everything except lane in one process, which may run plug-ins
  chain    transfer workflows and the steps of a chain that need no key
  lane     steps that need the keys of this process
  ledger   nonce ledgers, streams, batches, operator transactions, settings,
           notifications
  intake   listens to the guardian spy and feeds the streams
  api      the REST API`,
  examples: [
    'portage run --role all --pretty',
    'portage run --role lane --chain ethereum',
    'portage run --role chain --chain ethereum --chain avalanche',
  ],
  run: async ({ config, context, options, withTemporal }: Call<RunOptions>) => {
    const loaded = await config()
    const { role, chain: chains, lane, adminPort: port = loaded.admin.port, logLevel: level, pretty = false } = options
    const logger = createLogger({ level, pretty, joined: true })
    const unlisted = unlistedToken(loaded.dataFolder)
    const first =
      role === 'all' || role === 'keyless' || role === 'api' ? await prepareAccess(loaded, unlisted, context, logger) : undefined
    // Imported here, because these modules load slowly and other commands do not need them.
    const [{ runRole }, { restApi }] = await Promise.all([import('../../workers/process/runtime.ts'), import('../../api/server.ts')])
    await withInterrupt(context, async (stopping) => {
      stopping.addEventListener('abort', () => logger.info('stopping: work in hand is finished or handed back'))
      const listed = first && listToken(first, unlisted, { withTemporal, logger, stopping })
      const settings = { ...loaded, admin: { ...loaded.admin, port } }
      const lanes = lane?.map(laneAddress)
      const serve = async () => {
        const running = await runRole(role, settings, { env: context.env, logger, api: restApi, stopping, chains, lanes })
        const stop = () => void running.stop().catch((error: unknown) => logger.error('stopping failed', { ...problemOf(error) }))
        stopping.addEventListener('abort', stop)
        if (stopping.aborted) stop()
        await running.stopped
      }
      const version = deploymentOf(loaded)
      const isNeeded = async () => version && mustStartAgain(() => withTemporal((client) => versionStatus(client, version)), { stopping })
      // Without a signal, `serve` ends only if this version is drained. After a promotion, the process serves again.
      do await serve()
      while (await isNeeded())
      await listed
    })
  },
}

/** Lifetime (ms) of the first token, which only has to create other tokens. */
const firstTokenMs = 24 * 3_600_000

/**
 * Makes the keys of access tokens if there are none. With new keys, makes the first token, but only on a terminal,
 * because a log would keep the token. Returns the first token while it is not on the list of tokens.
 */
async function prepareAccess(
  config: Config,
  unlisted: UnlistedToken,
  { stderr }: CliContext,
  logger: Logger,
): Promise<Principal | undefined> {
  if (config.access.publicKeys.length > 0) return unlisted.read()
  const file = keyFile({ dataFolder: await makeDataFolder(config.dataFolder) })
  if (!(await makeKeys(file))) return unlisted.read()
  logger.info('the keys of access tokens were made', { file, next: 'portage token create --name <name> --level admin' })
  if (!stderr.isTTY) return undefined
  const wanted = { name: 'first-admin', level: 'admin', expiresAt: Date.now() + firstTokenMs } as const
  const { token, principal } = await signToken(signingKey(await readKeys(file)), config.temporal.namespace, wanted)
  await unlisted.keep(principal).catch((error: unknown) => {
    throw new RelayerError('DATA_FOLDER_UNUSABLE', { detail: config.dataFolder, cause: error })
  })
  stderr.write(`\nThe first access token (level admin, for a day, id ${principal.jti}), shown only now:\n\n${token}\n\n`)
  return principal
}

/** Lists the first token once a worker serves the settings, so that operators can revoke the token. Never throws. */
async function listToken(
  token: Principal,
  unlisted: UnlistedToken,
  { withTemporal, logger, stopping }: Pick<Call, 'withTemporal'> & { readonly logger: Logger; readonly stopping: AbortSignal },
): Promise<void> {
  const order = { by: 'portage', reason: 'the first access token', orders: [{ kind: 'addToken' as const, token }] }
  try {
    const { retryUntilAvailable } = await import('../../workers/process/startup-dependencies.ts')
    const add = () => withTemporal((client, config) => changeSettings(client, namesOf(config), order))
    await retryUntilAvailable('the list of access tokens', add, { logger, stopping })
    await unlisted.forget().catch(() => {})
  } catch (error) {
    const { message } = toRelayerError(error)
    logger.warn('the first access token is not on the list', {
      code: 'TOKEN_UNLISTED',
      ...{ id: token.jti, ends: new Date(token.expiresAt).toISOString(), reason: stopping.aborted ? 'stopped before' : message },
    })
  }
}
