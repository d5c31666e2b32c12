import type { Receiver } from '../domain/notification/notification.ts'
import { fileSource, variableSource } from './credential-sources.ts'
import type { Config } from './schema/schema.ts'

/** Returns receivers without their secrets, for processes that only raise notifications. */
export function receiverFilters({ notifications }: Pick<Config, 'notifications'>): readonly Pick<Receiver, 'name' | 'filter'>[] {
  return notifications.map(({ name, url: _, secrets: __, ...filter }) => ({ name, filter }))
}

/**
 * Reads a variable immediately, but a secret file only when the secret is needed. Throws CONFIG_INVALID for a variable
 * that is not set.
 */
export function receiversOf({ notifications }: Pick<Config, 'notifications'>, env: NodeJS.ProcessEnv): ReadonlyMap<string, Receiver> {
  return new Map(
    notifications.map(({ name, url, secrets, ...filter }, index) => {
      const sources = secrets.map(({ secretFile, secretVariable = '' }, place) => {
        const path = `notifications[${index}].secrets[${place}].secretVariable`
        return secretFile === undefined
          ? variableSource(path, secretVariable, env, 'notifications')
          : fileSource(secretFile, 'the config file')
      })
      return [name, { name, url, secrets: sources, filter }]
    }),
  )
}
