import { assertLevel, assertNotRevoked } from '../operations/access/principals.ts'
import { createKeyRing } from '../operations/access/keys.ts'
import { orderNamed, orderOf } from '../operations/orders/orders.ts'
import { verifyToken } from '../operations/access/tokens.ts'
import { accessSource } from '../config/data-folder.ts'
import type { Config } from '../config/schema/schema.ts'
import type { Principal } from '../domain/access.ts'
import { RelayerError } from '../domain/catalogue/errors.ts'
import type { TemporalClient } from '../temporal/client/connection/client.ts'
import { readSettings } from '../temporal/client/settings/settings.ts'
import type { CliContext, GlobalOptions } from './context.ts'
import { textOfFile } from './arguments/options.ts'

/** Of --token-file, else of PORTAGE_TOKEN: a list of processes would show an argument. Throws INPUT_INVALID. */
export async function givenToken(context: CliContext, { tokenFile: file }: GlobalOptions): Promise<string | undefined> {
  if (file === undefined) return context.env['PORTAGE_TOKEN']?.trim() || undefined
  return (await textOfFile(context, file, 'The token file cannot be read.')).trim()
}

/** The principal of this command. Throws ACCESS_TOKEN_*, ACCESS_KEYS, ACCESS_LEVEL. */
export async function authenticate(context: CliContext, globals: GlobalOptions, config: Config, command: string): Promise<Principal> {
  const order = orderNamed(command)
  if (!order) throw new Error(`operations/orders has no order ${command}`)
  const token = await givenToken(context, globals)
  if (token === undefined) throw new RelayerError('ACCESS_TOKEN_MISSING')
  const keys = await createKeyRing(accessSource(config)).keys()
  if (keys.length === 0)
    throw new RelayerError('ACCESS_KEYS', { detail: 'This machine has none.', facts: { dataFolder: config.dataFolder } })
  const principal = await verifyToken(keys, config.temporal.namespace, token)
  assertLevel(principal, order, orderOf(order).level)
  return principal
}

/** Only warns without a worker: a lane must be stoppable. Throws ACCESS_TOKEN_REVOKED, TEMPORAL_UNAVAILABLE. */
export async function assertStillGood({ stderr }: CliContext, client: TemporalClient, principal: Principal): Promise<void> {
  try {
    assertNotRevoked(principal, (await readSettings(client)).tokens)
  } catch (error) {
    if (!(error instanceof RelayerError) || error.code !== 'SETTINGS_UNREACHABLE') throw error
    stderr.write('Whether the token is revoked is not known: no worker serves the settings.\n')
  }
}
