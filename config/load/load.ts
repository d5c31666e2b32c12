import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { crossCheck } from './cross-checks.ts'
import { interpolate } from './interpolate.ts'
import { invalid, toProblems } from './problems.ts'
import { type Config, configSchema } from '../schema/schema.ts'
import { readYaml } from './yaml.ts'

/** The config of a YAML file; paths become absolute, from its folder. Throws CONFIG_INVALID with all problems. */
export async function loadConfig(path: string, env: NodeJS.ProcessEnv): Promise<Config> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    const problem = `the file ${cause.code === 'ENOENT' ? 'does not exist' : 'cannot be read'}`
    throw invalid(path, [{ path: '', problem, remedy: 'Name it with --config, or make one: portage init.' }], cause)
  })
  return resolvePaths(parseConfig(text, env, path), dirname(resolve(path)))
}

/** The config of a YAML text. `source` names it in errors. Throws CONFIG_INVALID. */
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
  for (const { signer } of Object.values(resolved.chains).flatMap(({ lanes }) => lanes)) {
    if (signer?.kind !== 'keystore') continue
    signer.file = resolve(folder, signer.file)
    if (signer.passwordFile) signer.passwordFile = resolve(folder, signer.passwordFile)
  }
  const { temporal } = resolved
  if (temporal.apiKeyFile) temporal.apiKeyFile = resolve(folder, temporal.apiKeyFile)
  for (const field of ['caFile', 'certificateFile', 'keyFile'] as const) {
    const file = temporal.tls?.[field]
    if (temporal.tls && file) temporal.tls[field] = resolve(folder, file)
  }
  for (const key of temporal.encryption?.keys ?? []) if (key.keyFile) key.keyFile = resolve(folder, key.keyFile)
  const { checkpoints } = resolved.streams
  if (checkpoints?.kind === 'directory') checkpoints.path = resolve(folder, checkpoints.path)
  const { archive } = resolved
  if (archive?.kind === 'directory') archive.path = resolve(folder, archive.path)
  for (const secret of resolved.notifications.flatMap(({ secrets }) => secrets))
    if (secret.secretFile) secret.secretFile = resolve(folder, secret.secretFile)
  return resolved
}
