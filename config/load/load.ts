import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { crossCheck } from './cross-checks.ts'
import { interpolate } from './interpolate.ts'
import { invalid, toProblems } from './problems.ts'
import { type Config, configSchema } from '../schema/schema.ts'
import { readYaml } from './yaml.ts'

/**
 * Reads a config. Its paths are relative to the folder of the file, and are returned as absolute paths. Throws
 * CONFIG_INVALID with all problems.
 */
export async function loadConfig(path: string, env: NodeJS.ProcessEnv): Promise<Config> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    const problem = `the file ${cause.code === 'ENOENT' ? 'does not exist' : 'cannot be read'}`
    throw invalid(path, [{ path: '', problem, remedy: 'Name it with --config, or make one: portage init.' }], cause)
  })
  return resolvePaths(parseConfig(text, env, path), dirname(resolve(path)))
}

export function parseConfig(text: string, env: NodeJS.ProcessEnv, source: string): Config {
  const raw = readYaml(text, source)
  if (raw === null || raw === undefined) {
    const remedy = 'Make one with portage init, or start from config/portage.example.yaml.'
    throw invalid(source, [{ path: '', problem: 'the file is empty', remedy }])
  }
  const { tree, problems: missing } = interpolate(raw, env)
  const parsed = configSchema.safeParse(tree)
  const known = new Set(missing.map((problem) => problem.path))
  const found = (parsed.error?.issues ?? []).flatMap((issue) => toProblems(issue, tree)).filter(({ path }) => !known.has(path))
  const problems = [...missing, ...found, ...crossCheck(tree)]
  if (!parsed.success || problems.length > 0) throw invalid(source, problems)
  return parsed.data
}

function resolvePaths(config: Config, folder: string): Config {
  const resolved = { ...structuredClone(config), dataFolder: resolve(folder, config.dataFolder) }
  const { chains, bridges, temporal, streams, archive, notifications, priceFeed } = resolved
  const makeAbsolute = <Field extends string>(holder: { [Name in Field]?: string | undefined } | undefined, ...fields: Field[]) => {
    for (const field of fields) if (holder?.[field]) holder[field] = resolve(folder, holder[field])
  }
  for (const { signer } of [...Object.values(chains).flatMap(({ lanes }) => lanes), ...(bridges.executor ? [bridges.executor.quoter] : [])])
    if (signer?.kind === 'keystore') makeAbsolute(signer, 'file', 'passwordFile')
  for (const plugin of Object.values(bridges.plugins ?? {})) makeAbsolute(plugin, 'module')
  for (const source of priceFeed?.sources ?? []) if (source.kind === 'file') makeAbsolute(source, 'path')
  makeAbsolute(temporal, 'apiKeyFile')
  makeAbsolute(temporal.tls, 'caFile', 'certificateFile', 'keyFile')
  for (const { tls } of bridges['wormhole-token-bridge']?.spies ?? []) makeAbsolute(tls, 'caFile')
  for (const key of temporal.encryption?.keys ?? []) makeAbsolute(key, 'keyFile')
  if (streams.checkpoints?.kind === 'directory') makeAbsolute(streams.checkpoints, 'path')
  if (archive?.kind === 'directory') makeAbsolute(archive, 'path')
  for (const secret of notifications.flatMap(({ secrets }) => secrets)) makeAbsolute(secret, 'secretFile')
  return resolved
}
