import { readFile, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { type Role, serves } from '../../workers/roles/roles.ts'
import { bearer, makeToken } from './access.ts'
import { type Child, startChild } from './child.ts'
import type { Devnet } from './index.ts'
import { freePort } from './ports.ts'
import type { ConfigInput } from './relayer-config.ts'
import { until } from './until.ts'

const ownLauncher = fileURLToPath(new URL('../../bin/portage.js', import.meta.url))

/** A process of `portage run`, started as an operator starts it. */
export interface PortageProcess extends Child {
  readonly apiUrl: string
  readonly adminUrl: string
  readonly admin: { readonly authorization: string }
  readonly hasApi: boolean
  readonly configPath: string
  readonly logFile: string
}

export interface PortageOptions {
  readonly role?: Role
  /** Further arguments of `portage run`, such as --chain and --lane. */
  readonly args?: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  readonly configure?: (config: ConfigInput) => ConfigInput
  /** `bin/portage.js` of another copy of the sources. Default: this checkout. */
  readonly launcher?: string | undefined
  /** Name of the process's files. Processes of one devnet need different names. */
  readonly name?: string
}

/**
 * Starts a process, and resolves once it is ready. Throws Error after two minutes, or with the process's last lines if
 * the process ends before it is ready.
 */
export async function startPortage(devnet: Devnet, options: PortageOptions = {}): Promise<PortageProcess> {
  const { role = 'all', name = 'portage', args = [], launcher = ownLauncher } = options
  const [port, adminPort] = [await freePort(), await freePort()]
  const configPath = join(devnet.dir, `${name}.yaml`)
  const logFile = join(devnet.dir, `${name}.log`)
  const config = { ...devnet.relayerConfig(), api: { port, requestsPerMinute: 1_000_000 }, admin: { port: adminPort } }
  const configured = options.configure?.(config) ?? config
  await writeFile(configPath, stringify(configured))
  const { dataFolder = 'portage-data', temporal } = configured
  const admin = bearer(await makeToken({ dataFolder: resolve(devnet.dir, dataFolder), temporal }))
  // Only lines after this size count, because the log may begin with lines of an earlier process with the same name.
  const written = await stat(logFile).then(
    ({ size }) => size,
    () => 0,
  )
  const child = await startChild(process.execPath, [launcher, '--config', configPath, 'run', '--role', role, ...args], {
    logFile,
    env: { ...process.env, ...devnet.env, ...options.env },
  })
  const [apiUrl, adminUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${adminPort}`]
  const says = () => readFile(logFile).then((log) => log.subarray(written).includes('"message":"running"'))
  const hasApi = serves(role, 'api')
  const ready = hasApi ? () => fetch(`${apiUrl}/ready`).then(({ ok }) => ok) : says
  const giveUp = () => child.ended && `${child.ended}: ${child.tail()}`
  try {
    await until(ready, { timeoutMs: 120_000, everyMs: 50, what: 'Portage to be ready', giveUp })
  } catch (error) {
    // Stops the child, because a caller that tries again would otherwise have two processes.
    await child.stop(0)
    throw error
  }
  return Object.assign(Object.create(child) as Child, { apiUrl, adminUrl, admin, hasApi, configPath, logFile })
}
