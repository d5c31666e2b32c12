import type { PayloadEncryption, PayloadKeySource } from '../domain/temporal-access.ts'
import { fileSource, variableSource } from './credential-sources.ts'
import type { Config } from './schema/schema.ts'

/** The keys that a config names, unread; undefined: it names none. Throws CONFIG_INVALID for a variable that is not set. */
export function payloadEncryption({ encryption }: Config['temporal'], env: NodeJS.ProcessEnv): PayloadEncryption | undefined {
  if (!encryption) return undefined
  const { keys, required } = encryption
  const sources = keys.map(({ id, keyFile, keyVariable = '' }, index): PayloadKeySource => {
    const path = `temporal.encryption.keys[${index}].keyVariable`
    return { id, source: keyFile === undefined ? variableSource(path, keyVariable, env) : fileSource(keyFile, 'the config file') }
  })
  return { keys: sources, required }
}
