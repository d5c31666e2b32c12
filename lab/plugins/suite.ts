import { namesOf, pluginContext } from '../../bridges/configured-emitters.ts'
import type { AuthorDevnet, Expected } from '../../bridges/kit/plugin.ts'
import { createPluginMessages } from '../../bridges/kit/plugin-bridge.ts'
import { asData, createPlugin, readPlugin } from '../../bridges/packages/load.ts'
import { threadLimits } from '../../bridges/packages/thread.ts'
import { configSchema } from '../../config/schema/schema.ts'
import { toRelayerError } from '../../domain/catalogue/errors.ts'
import { type Devnet, startDevnet } from '../devnet/index.ts'
import { type PortageProcess, startPortage } from '../devnet/portage-process.ts'
import { type ConfigInput, quickTakeover } from '../devnet/relayer-config.ts'
import { until } from '../devnet/until.ts'
import { authorDevnet } from './author-devnet.ts'
import { checkEnds, waitMs } from './deliveries.ts'
import { tryForgeries } from './forgeries.ts'
import { fuzzPlugin } from './fuzz.ts'
import { type Messages, type Result, resultOf, type Sent } from './result.ts'

export interface Author {
  deploy(devnet: AuthorDevnet): Promise<unknown>
  send(devnet: AuthorDevnet): Promise<Expected | void>
}

/** Tests the plug-in on a devnet of its own. Throws errors of the author's functions. */
export async function testPlugin(module: string, author: Author, log: (line: string) => void): Promise<Result[]> {
  // The plug-in may use all of a process's time, because this suite makes more requests than a busy machine can answer
  // within the usual share.
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
    const declined = ((await author.send(on))?.declined ?? []).map((payload) => payload.toLowerCase())
    const sent = await until(() => ownMessages(devnet, before, messages, declined), {
      timeoutMs: waitMs,
      what: 'a message of a route of the plug-in, and each message that must be declined',
    })
    log(`Waiting for deliveries (${sent.length})…`)
    const [, keyless] = processes as [PortageProcess, PortageProcess]
    const delivered = sent.filter((one) => !declined.includes(payloadOf(one)))
    const ends = await checkEnds(devnet, keyless, { plugin, delivered, declined: sent.filter((one) => !delivered.includes(one)) })
    log('Giving its decoder junk, and trying forged calls…')
    const fuzzed = await resultOf('junk in payloads and in answers of views causes no errors', () => fuzzPlugin(plugin, messages, sent))
    return [...ends, fuzzed, ...(await tryForgeries(devnet, config, { plugin, sent: delivered }))]
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

const payloadOf = ({ message }: Sent) => `0x${Buffer.from(message.payload).toString('hex')}`

function ownMessages({ guardian }: Devnet, before: number, messages: Messages, payloads: readonly string[]): Sent[] | undefined {
  const own = guardian.observations.slice(before).flatMap(({ bytes }) => {
    try {
      return [messages.readBytes(bytes)]
    } catch (error) {
      if (toRelayerError(error).code === 'PAYLOAD_KIND') return []
      throw error
    }
  })
  const isComplete = own.length > 0 && payloads.every((payload) => own.some((one) => payloadOf(one) === payload))
  return isComplete ? own : undefined
}
