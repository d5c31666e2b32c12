import { type AccessKey, keyFile, readKeys } from '../../operations/access/keys.ts'
import { accessSource } from '../../config/data-folder.ts'
import type { Config } from '../../config/schema/schema.ts'
import { longestTokenMs } from '../../domain/access.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { IssuedToken } from '../../domain/settings/settings.ts'
import type { TemporalAccess } from '../../domain/temporal-access.ts'
import { readSettings } from '../../temporal/client/settings/settings.ts'
import { type Check, type Finding, ifReachable, look, orError, warn } from './check.ts'

const area = 'access'
const dayMs = 24 * 3_600_000

export async function checkAccess(config: Config, temporal: TemporalAccess): Promise<Check[]> {
  const keys = look(area, 'key file', () => checkKeyFile(config, Date.now()))
  const tokens = ifReachable(temporal, async (client) => [
    await look(area, 'tokens', async () => {
      const answer = await orError(readSettings(client), 'SETTINGS_UNREACHABLE')
      if (answer instanceof RelayerError) return warn('no worker serves the list of tokens now', answer.remedy)
      return tokensFinding(answer.tokens, Date.now())
    }),
  ])
  return [await keys, ...(await tokens)]
}

/** Throws ACCESS_KEYS if the key file is unreadable, malformed, owned by another user or readable by other users. */
async function checkKeyFile(config: Config, now: number): Promise<Finding> {
  const file = keyFile(accessSource(config))
  const keys = await readKeys(file)
  const configured = config.access.publicKeys.length
  if (keys) return keysFinding(file, keys, now)
  if (configured > 0) return `none here; tokens are verified with ${configured} public keys of the config`
  return warn(
    `${file} does not exist: no token can be created or verified on this machine`,
    'The first start of portage run --role api or all creates it, and so does portage token create. On other machines list its public keys (portage token keys) in access.publicKeys.',
  )
}

function keysFinding(file: string, keys: readonly AccessKey[], now: number): Finding {
  const made = ({ createdAt }: AccessKey) => Date.parse(createdAt)
  const signing = keys.findLast(({ d }) => d !== undefined)
  if (!signing) return warn(`${file} has no signing key: no token can be created here`, 'portage token rotate-key')
  const days = Math.max(0, Math.floor((now - made(signing)) / dayMs))
  const detail = `${file}: the signing key is ${days} days old; ${keys.length - 1} older keys verify`
  // A key signs until the next key is made, so all its tokens have ended `longestTokenMs` after the next key was made.
  const done = keys.filter((key, index) => key !== signing && now - made(keys[index + 1] ?? signing) > longestTokenMs)
  const [first] = done
  if (first) return warn(`${detail}, ${done.length} of them tokens that have all ended`, `portage token remove-key ${first.kid}`)
  if (now - made(signing) <= longestTokenMs) return detail
  return warn(detail, 'portage token rotate-key; and portage token remove-key for the old one once its tokens have ended.')
}

function tokensFinding(tokens: readonly IssuedToken[], now: number): Finding {
  const listed = tokens.filter(({ expiresAt }) => expiresAt !== undefined)
  const good = listed.filter(({ expiresAt = 0, revoked }) => !revoked && expiresAt > now)
  const remedy = 'portage token create --name <name> --level admin, on the machine with the key file.'
  if (tokens.length === 0) return warn('no token is listed: nobody can give an order or read through the API', remedy)
  const revoked = tokens.filter((one) => one.revoked).length
  if (good.length === 0) return warn(`no listed token is valid (${revoked} revoked): nobody can give an order`, remedy)
  const soonest = Math.min(...good.map(({ expiresAt = 0 }) => expiresAt))
  return `${good.length} are valid, ${revoked} revoked; the next ends ${new Date(soonest).toISOString()}`
}
