import { chmod, chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { encryptKeystoreJson } from 'ethers'
import { stringify } from 'yaml'
import { keyFile, readKeys } from '../../operations/access/keys.ts'
import { bearer, makeToken } from '../../lab/devnet/access.ts'
import type { Devnet } from '../../lab/devnet/index.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import type { ConfigInput } from '../../lab/devnet/relayer-config.ts'
import { until } from '../../lab/devnet/until.ts'
import type { Role } from '../../workers/roles/roles.ts'
import { type Container, type ImageConfig, startContainer } from './container.ts'

const user = 10_001
const laneFolder = '/run/secrets/portage/lane'

/** A process of the image, with the settings of the Compose file and the chart. */
export interface FleetProcess extends Container {
  readonly name: string
  readonly role: Role
  readonly adminUrl: string
}

interface FleetOptions {
  readonly devnet: Devnet
  /** Mount point of the image's file system, and the image's own configuration. */
  readonly root: string
  readonly image: ImageConfig
  /** Folder for logs and for files that the processes mount. */
  readonly folder: string
}

/** Starts each role in its own process, and for each lane a process with only its key. Resolves when all are ready. */
export async function startFleet({ devnet, root, image, folder }: FleetOptions, started: FleetProcess[]) {
  const apiPort = await freePort()
  const tokens = join(folder, 'tokens')
  const token = await makeToken({ dataFolder: tokens })
  const publicKeys = ((await readKeys(keyFile({ dataFolder: tokens }))) ?? []).map(({ x }) => x)
  const config = join(folder, 'config')
  await mkdir(config, { recursive: true })
  await writeFile(join(config, 'portage.yaml'), stringify(fleetConfig(devnet, apiPort, publicKeys), { aliasDuplicateObjects: false }))
  const start = async (name: string, role: Role, args: readonly string[], lane?: string) => {
    const adminPort = await freePort()
    const data = join(folder, 'data', name)
    await mkdir(data, { recursive: true })
    await chown(data, user, user)
    const mounts = [
      { source: config, target: '/etc/portage' },
      { source: data, target: '/var/lib/portage', writable: true },
      ...(lane === undefined ? [] : [{ source: lane, target: '/run/secrets' }]),
    ]
    const all = ['run', '--role', role, ...args, '--admin-port', String(adminPort)]
    const container = await startContainer({ root, image, args: all, mounts, logFile: join(folder, `${name}.log`) })
    const process: FleetProcess = { ...container, name, role, adminUrl: `http://127.0.0.1:${adminPort}` }
    started.push(process)
    await until(async () => (await fetch(`${process.adminUrl}/readyz`)).ok, {
      ...{ timeoutMs: 120_000, everyMs: 200, what: `${name} to be ready` },
      giveUp: () => process.child.ended && `${process.child.ended}: ${process.child.tail()}`,
    })
    return process
  }
  const chains = [...new Set(devnet.lanes.map(({ chain }) => chain))]
  await Promise.all([
    start('ledger', 'ledger', []),
    start('intake', 'intake', []),
    start('api', 'api', []),
    ...chains.map((chain) => start(`chain-${chain}`, 'chain', ['--chain', chain])),
    ...devnet.lanes.map(async ({ chain, address, privateKey }, index) => {
      const name = `lane-${chain}-${index + 1}`
      const secrets = join(folder, 'secrets', name)
      await writeLane(join(secrets, 'portage/lane'), address, privateKey)
      return start(name, 'lane', ['--chain', chain, '--lane', address], secrets)
    }),
  ])
  return { processes: started, apiUrl: `http://127.0.0.1:${apiPort}`, ...bearer(token) }
}

/** The devnet's config, with keys in files, checkpoints next to the data, and only the public keys of access tokens. */
function fleetConfig(devnet: Devnet, port: number, publicKeys: string[]): ConfigInput {
  const config = devnet.relayerConfig()
  const signer = { kind: 'keystore', file: `${laneFolder}/keystore.json`, passwordFile: `${laneFolder}/password` } as const
  const chains = Object.entries(config.chains).map(([name, chain]) => [
    name,
    { ...chain, lanes: (chain.lanes ?? []).map((lane) => ({ ...lane, signer })) },
  ])
  const { checkpoints: _, ...streams } = config.streams ?? {}
  return {
    ...config,
    ...{ dataFolder: '/var/lib/portage/data', chains: Object.fromEntries(chains) as ConfigInput['chains'], streams },
    ...{ api: { port }, access: { publicKeys } },
  }
}

/** Writes a DEVNET key as an operator would: to files that only the process's user may read. */
async function writeLane(folder: string, address: string, privateKey: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const password = 'devnet'
  // A weak derivation is enough, because everybody knows the key.
  const keystore = await encryptKeystoreJson({ address, privateKey }, password, { scrypt: { N: 1_024, r: 8, p: 1 } })
  for (const [name, text] of Object.entries({ 'keystore.json': keystore, password: `${password}\n` })) {
    const file = join(folder, name)
    await writeFile(file, text)
    await chown(file, user, user)
    await chmod(file, 0o400)
  }
}
