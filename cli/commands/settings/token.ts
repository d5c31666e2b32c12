import { text } from 'node:stream/consumers'
import { InvalidArgumentError, Option } from 'commander'
import {
  createKeyRing,
  fromConfig,
  keyFile,
  makeKeys,
  readKeys,
  removeKey,
  rotateKeys,
  signingKey,
} from '../../../operations/access/keys.ts'
import { signToken, verifyToken } from '../../../operations/access/tokens.ts'
import { invalid } from '../../../operations/orders/spec.ts'
import { accessSource, makeDataFolder } from '../../../config/data-folder.ts'
import { chainOf, namesOf, resolveLane } from '../../../config/chains.ts'
import type { Config } from '../../../config/schema/schema.ts'
import { type AccessLevel, accessLevels, longestTokenMs, type Principal } from '../../../domain/access.ts'
import { parseAge } from '../../../domain/text/age.ts'
import type { IssuedToken, SettingsOrder } from '../../../domain/settings/settings.ts'
import type { TemporalClient } from '../../../temporal/client/connection/client.ts'
import { changeSettings, readSettings } from '../../../temporal/client/settings/settings.ts'
import { type Call, type CommandSpec, givenToken } from '../../command.ts'
import { facts, list, type Outcome, timeText, verbatim } from '../../output/output.ts'
import type { CliContext } from '../../context.ts'
import { collect, type Reasoned, textOfFile, withReason } from '../../arguments/options.ts'
import { orderText } from '../../orders.ts'

/** Author of orders that are given without a token. This author can read the key file, and so could sign any token. */
const keyHolder = 'key-file'

interface CreateOptions {
  readonly name: string
  readonly level: AccessLevel
  readonly chain?: readonly string[]
  readonly lane?: readonly string[]
  /** Time until the token expires, ms. */
  readonly expires: number
}

export const tokenCommand: CommandSpec = {
  description: 'Access tokens for the API and for orders on the command line. The keys that sign tokens are in the data folder.',
  notes: `The commands create, rotate-key and remove-key work only on the machine that has the key file. There, these commands and revoke need no token, because a user who can read this file can sign any token. Levels: docs/operate/access.md.`,
  commands: {
    create: {
      ...orderText('token create'),
      options: (command) =>
        command
          .requiredOption('--name <name>', 'a person or a service')
          .addOption(new Option('--level <level>', 'the level').choices(accessLevels).makeOptionMandatory())
          .option('--chain <name>', 'orders about this chain only (may be repeated)', collect)
          .option('--lane <lane>', 'orders about this lane only, by id or address (may be repeated)', collect)
          .option('--expires <duration>', 'minutes, hours or days, at most 366d: 30m, 12h, 90d', durationOf, durationOf('90d')),
      run: (call: Call<CreateOptions>) =>
        asAdministrator(call, async (client, config, by) => {
          const { name, level, expires, chain: chains, lane } = call.options
          for (const chain of chains ?? []) chainOf(config, chain)
          const lanes = lane?.map((one) => resolveLane(config, one))
          const key = signingKey(await readKeys(keyFile(accessSource(config))))
          const wanted = { name, level, chains, lanes, expiresAt: Date.now() + expires }
          const { token, principal } = await signToken(key, config.temporal.namespace, wanted)
          await changeSettings(client, namesOf(config), {
            by,
            reason: `a token for ${name}`,
            orders: [{ kind: 'addToken', token: principal }],
          })
          const { jti: id, expiresAt } = principal
          const about = { name, level, scope: scopeText(principal), id, expires: new Date(expiresAt).toISOString() }
          return { json: { ...principal, token }, text: [facts(about), verbatim(token)] }
        }),
    },
    list: {
      description: 'Tokens, and whether they are good, expired or revoked. Portage does not store the tokens themselves.',
      examples: ['portage token list --json'],
      run: ({ withTemporal }) =>
        withTemporal(async (client) => {
          const { tokens } = await readSettings(client)
          return { json: { tokens }, text: list('no tokens', tokens.map(cells)) }
        }),
    },
    revoke: {
      ...orderText('token revoke'),
      options: (command) =>
        withReason(command)
          .argument('[id]', 'id of the token; portage token list shows it')
          .option('--stolen <file>', 'a file with the text of the token, for a token that is not listed; - reads the text from stdin'),
      run: (call: Call<Reasoned & { readonly stolen?: string }>, id: string | undefined) =>
        asAdministrator(call, async (client, config, by) => {
          const { reason, stolen: file } = call.options
          if ((id === undefined) === (file === undefined)) throw invalid('Give the id of the token, or --stolen with the token itself.')
          const found = file === undefined ? undefined : await tokenIn(call.context, config, file)
          const jti = found?.jti ?? id ?? ''
          const wanted: SettingsOrder[] = [...(found ? [{ kind: 'addToken' as const, token: found }] : []), { kind: 'revokeToken', jti }]
          await changeSettings(client, namesOf(config), { by, reason, orders: wanted })
          return { json: { jti, revoked: true }, text: facts({ revoked: jti }) }
        }),
    },
    keys: {
      description: 'The keys that verify tokens. On other machines, list the public keys in access.publicKeys.',
      examples: ['portage token keys --json'],
      run: async ({ config }) => {
        const loaded = await config()
        const own = (await readKeys(keyFile(accessSource(loaded)))) ?? []
        const configured = await fromConfig(loaded.access.publicKeys)
        const keys = [
          ...own.map(({ kid, x, d, createdAt }) => ({ kid, publicKey: x, use: d ? 'signs' : 'verifies', from: 'key file', createdAt })),
          ...configured.map(({ kid, x }) => ({ kid, publicKey: x, use: 'verifies', from: 'config', createdAt: undefined })),
        ]
        const rows = keys.map(({ kid, publicKey, use, from, createdAt: at }) => {
          return { key: kid, use, from, made: at && timeText(at), 'public key': publicKey }
        })
        return { json: { keys }, text: list('no keys', rows) }
      },
    },
    'rotate-key': {
      ...orderText('token rotate-key'),
      run: (call: Call) =>
        asAdministrator(call, async (_, config) => {
          const kid = await rotateKeys(keyFile(accessSource(config)))
          return { json: { kid }, text: facts({ 'signs now': kid }) }
        }),
    },
    'remove-key': {
      ...orderText('token remove-key'),
      options: (command) => command.argument('<key>', 'the key; portage token keys shows it'),
      run: (call: Call, kid: string) =>
        asAdministrator(call, async (_, config) => {
          await removeKey(keyFile(accessSource(config)), kid)
          return { json: { kid, removed: true }, text: facts({ removed: kid }) }
        }),
    },
  },
}

/**
 * Calls `use` with the token's name or, without a token, with `keyHolder` if the key file has a signing key. Makes a
 * missing key file if the config has no keys. Throws ACCESS_*.
 */
async function asAdministrator(
  call: Call,
  use: (client: TemporalClient, config: Config, by: string) => Promise<Outcome>,
): Promise<Outcome> {
  const { context, globals, config, withOrder, withTemporal } = call
  if ((await givenToken(context, globals)) !== undefined) return withOrder((client, loaded, allow) => use(client, loaded, allow({}).by))
  const loaded = await config()
  const file = keyFile(accessSource(loaded))
  if (loaded.access.publicKeys.length === 0) {
    await makeDataFolder(loaded.dataFolder)
    await makeKeys(file)
  }
  signingKey(await readKeys(file))
  return withTemporal((client) => use(client, loaded, keyHolder))
}

/** Verifies the token in a file. Throws INPUT_INVALID, ACCESS_KEYS, ACCESS_TOKEN_INVALID, ACCESS_TOKEN_EXPIRED. */
async function tokenIn(context: CliContext, config: Config, file: string): Promise<Principal> {
  const found = await (file === '-' ? text(context.stdin) : textOfFile(context, file, 'The file of the token cannot be read.'))
  return verifyToken(await createKeyRing(accessSource(config)).keys(), config.temporal.namespace, found.trim())
}

function cells({ jti: id, name, level, issuedAt, expiresAt, revoked, ...scope }: IssuedToken) {
  const isExpired = expiresAt !== undefined && expiresAt <= Date.now()
  const state = revoked ? `revoked by ${revoked.by}: ${revoked.reason}` : isExpired ? 'expired' : 'good'
  const [made, expires] = [issuedAt, expiresAt].map((at) => at && timeText(new Date(at).toISOString()))
  return { id, name, level, scope: scopeText(scope), made, expires, state }
}

function scopeText({ chains = ['all chains'], lanes = [] }: Pick<IssuedToken, 'chains' | 'lanes'>): string {
  return [...chains, ...lanes].join(', ')
}

/** Returns ms. Throws InvalidArgumentError. */
function durationOf(text: string): number {
  const ms = text.endsWith('s') ? undefined : parseAge(text)
  if (ms !== undefined && ms <= longestTokenMs) return ms
  throw new InvalidArgumentError('It is a number with m, h or d, at most 366d: 30m, 12h, 90d.')
}
