import { readFileSync } from 'node:fs'
import type { CredentialSource } from '../domain/temporal-access.ts'
import { invalid } from './load/problems.ts'

export function fileSource(file: string, from: string): CredentialSource {
  return { from, file, read: () => readFileSync(file, 'utf8') }
}

export function textSource(value: string, from: string): CredentialSource {
  return { from, read: () => value }
}

/** Throws CONFIG_INVALID for the field `path` of the config if the variable is not set. */
export function variableSource(path: string, variable: string, env: NodeJS.ProcessEnv, source = 'Temporal'): CredentialSource {
  const value = env[variable]
  if (value) return textSource(value, `the variable ${variable}`)
  const problem = `needs the environment variable ${variable}, which is not set`
  throw invalid(source, [{ path, problem, remedy: `Set ${variable}.` }])
}
