import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { stringify } from 'yaml'
import { main } from '../../cli/main.ts'
import { laneId } from '../../domain/lane/lane.ts'
import { makeToken } from '../devnet/access.ts'
import type { Devnet } from '../devnet/index.ts'
import type { ChainKey } from '../faults/fault-targets.ts'
import { type DrillScene, treasury } from './scene.ts'

export async function portage(devnet: Devnet, args: readonly string[]): Promise<Record<string, unknown>> {
  const config = devnet.relayerConfig()
  const file = join(devnet.dir, 'operator.yaml')
  await writeFile(file, stringify(config))
  const { dataFolder = '', temporal } = config
  const token = await makeToken({ dataFolder, temporal })
  const out: string[] = []
  const err: string[] = []
  const code = await main([...args, '--json', '--config', file], {
    env: { ...devnet.env, PORTAGE_TOKEN: token },
    stdin: Readable.from([]),
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    cwd: () => devnet.dir,
    on: () => {},
    off: () => {},
  })
  if (code !== 0) throw new Error(`portage ${args.join(' ')} ended with ${code}: ${err.join('')}${out.join('')}`)
  return JSON.parse(out.join('')) as Record<string, unknown>
}

function spareLane({ lanes, chains }: Devnet, chain: ChainKey): string {
  const address = lanes.filter((lane) => lane.chain === chain)[1]?.address ?? ''
  return laneId('evm', chains[chain].anvil.chainId, address)
}

const because = ['--reason', 'a drill'] as const

export async function setSpareLane({ devnet }: DrillScene, mode: 'pause' | 'activate', chain: ChainKey): Promise<void> {
  await portage(devnet, ['lane', mode, spareLane(devnet, chain), ...because])
}

/** Orders a payment from the spare lane to the treasury. `when`: as in `Payment`. */
export async function pay({ devnet, payments }: DrillScene, chain: ChainKey, when: string): Promise<void> {
  const amount = 10n ** 12n + BigInt(payments.length)
  await portage(devnet, ['lane', 'send', spareLane(devnet, chain), '--to', treasury, '--value', String(amount), ...because])
  payments.push({ chain, amount, when })
}
