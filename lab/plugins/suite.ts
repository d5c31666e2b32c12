import { namesOf, pluginContext } from '../../bridges/configured-emitters.ts'
import type { AuthorDevnet } from '../../bridges/kit/plugin.ts'
import { createPluginMessages } from '../../bridges/kit/plugin-bridge.ts'
import { asData, createPlugin, readPlugin } from '../../bridges/packages/load.ts'
import { threadLimits } from '../../bridges/packages/thread.ts'
import { configSchema } from '../../config/schema/schema.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import { transferId } from '../../temporal/contracts/names.ts'
import { type Devnet, startDevnet } from '../devnet/index.ts'
import { type PortageProcess, startPortage } from '../devnet/portage-process.ts'
import { type ConfigInput, quickTakeover } from '../devnet/relayer-config.ts'
import { until } from '../devnet/until.ts'
import { authorDevnet } from './author-devnet.ts'
import { tryForgeries } from './forgeries.ts'
import { fuzzPlugin } from './fuzz.ts'
import { type Messages, type Result, resultOf, type Sent } from './result.ts'

export interface Author {
  deploy(devnet: AuthorDevnet): Promise<unknown>
  send(devnet: AuthorDevnet): Promise<void>
}

const waitMs = 120_000

/** Tests the plug-in on a devnet of its own. Throws errors of the author's functions. */
export async function testPlugin(module: string, author: Author, log: (line: string) => void): Promise<Result[]> {
  // On a busy machine, the many requests of this suite would use up the share of time that a process grants a plug-in.
  const file = await readPlugin(module, undefined, { ...threadLimits, restMs: threadLimits.answerMs })
  const { name, version } = file.definition
  log(`${name} ${version}: starting a devnet…`)
  const devnet = await startDevnet({ blockTimeSeconds: 0.25, inMemory: true, ui: false, worker: quickTakeover })
  const processes: PortageProcess[] = []
  try {
    const on = authorDevnet(Object.values(devnet.chains))
    log('Calling deploy…')
    const settings = await author.deploy(on)
    const context = pluginContext(configSchema.parse(devnet.relayerConfig()))
    const { plugin, routes } = await createPlugin(file, settings, context)
    const entry = {
      module,
      sha256: file.sha256,
      settings: asData(settings) as Record<string, unknown>,
      routes,
      ...(!plugin.earned && { free: true as const }),
    }
    const configure = (config: ConfigInput): ConfigInput => ({ ...config, bridges: { ...config.bridges, plugins: { [name]: entry } } })
    const config = configSchema.parse(configure(devnet.relayerConfig()))
    const names = namesOf(config)
    const messages = createPluginMessages(plugin, names)
    log('Starting Portage: one process with the keys, and one with the plug-in…')
    processes.push(...(await startProcesses(devnet, configure)))
    const before = devnet.guardian.observations.length
    log('Calling send…')
    await author.send(on)
    const sent = await until(() => ownMessages(devnet, before, messages), {
      timeoutMs: waitMs,
      what: 'a message of a route of the plug-in',
    })
    log(`Waiting for deliveries (${sent.length})…`)
    const [, keyless] = processes as [PortageProcess, PortageProcess]
    const delivered = await resultOf(`messages are delivered, each once (${sent.length})`, () => areDelivered(devnet, keyless, name, sent))
    log('Giving its decoder junk, and trying forged calls…')
    const fuzzed = await resultOf('junk in payloads and in answers of views makes it throw nothing', () =>
      fuzzPlugin(plugin, messages, sent),
    )
    return [delivered, fuzzed, ...(await tryForgeries(devnet, config, { plugin, sent }))]
  } finally {
    file.thread.close()
    for (const one of processes) await one.stop()
    await devnet.stop()
  }
}

/** Starts a process with the keys, and a process without keys that runs the plug-in. */
async function startProcesses(devnet: Devnet, configure: (config: ConfigInput) => ConfigInput): Promise<PortageProcess[]> {
  const noKeys = Object.fromEntries(Object.keys(devnet.env).map((variable) => [variable, undefined]))
  const started = await Promise.allSettled([
    startPortage(devnet, { role: 'lane', name: 'lane', configure }),
    startPortage(devnet, { role: 'keyless', name: 'keyless', configure, env: noKeys }),
  ])
  const failed = started.find((one) => one.status === 'rejected')
  const running = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  if (!failed) return running
  for (const one of running) await one.stop()
  throw failed.reason
}

function ownMessages({ guardian }: Devnet, before: number, messages: Messages): Sent[] | undefined {
  const own = guardian.observations.slice(before).flatMap(({ bytes }) => {
    try {
      return [messages.readBytes(bytes)]
    } catch (error) {
      if (toRelayerError(error).code === 'PAYLOAD_KIND') return []
      throw error
    }
  })
  return own.length > 0 ? own : undefined
}

async function areDelivered(devnet: Devnet, portage: PortageProcess, bridge: string, sent: readonly Sent[]): Promise<void> {
  const ids = sent.map(({ message: { emitterChain, emitter, sequence, digest } }) =>
    transferId({ bridge, sourceId: String(emitterChain), emitter, sequence, digest }),
  )
  await Promise.all(
    ids.map((id) =>
      until(async () => (await stateOf(portage, id)) === 'delivered', { timeoutMs: waitMs, everyMs: 200, what: `${id} to be delivered` }),
    ),
  )
  const counts = await transactionsOf(devnet)
  for (const { message } of sent) {
    const body = JSON.stringify({ vaa: Buffer.from(message.bytes).toString('base64') })
    const headers = { ...portage.admin, 'content-type': 'application/json' }
    const { ok, status } = await fetch(`${portage.apiUrl}/v1/transfers`, { method: 'POST', headers, body })
    if (!ok) throw new Error(`a second submission was answered with ${status}`)
  }
  const heights = await heightsOf(devnet)
  const isLater = async () => (await heightsOf(devnet)).every((height, index) => height >= (heights[index] ?? 0) + 8)
  await until(isLater, { timeoutMs: waitMs, what: 'eight more blocks' })
  if ((await transactionsOf(devnet)) !== counts) throw new Error('a second submission was sent once more')
}

async function stateOf({ apiUrl, admin }: PortageProcess, id: string): Promise<string | undefined> {
  const answer = await fetch(`${apiUrl}/v1/transfers/${encodeURIComponent(id)}`, { headers: admin })
  return answer.ok ? ((await answer.json()) as { state?: string }).state : undefined
}

async function transactionsOf({ chains, lanes }: Devnet): Promise<string> {
  const counts = lanes.map(({ chain, address }) =>
    chains[chain as keyof Devnet['chains']].anvil.rpc<string>('eth_getTransactionCount', [address, 'latest']),
  )
  return (await Promise.all(counts)).join(' ')
}

async function heightsOf({ chains }: Devnet): Promise<number[]> {
  return Promise.all(Object.values(chains).map(async ({ anvil }) => Number(await anvil.rpc<string>('eth_blockNumber'))))
}
