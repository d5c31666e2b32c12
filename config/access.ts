import type { Config } from './schema/schema.ts'

/** Where the keys of access tokens are. */
export function accessSource({ dataFolder, access }: Pick<Config, 'dataFolder' | 'access'>) {
  return { dataFolder, publicKeys: access.publicKeys }
}
