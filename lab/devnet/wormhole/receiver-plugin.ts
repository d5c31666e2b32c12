import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ConfigInput } from '../relayer-config.ts'

type PluginConfig = NonNullable<ConfigInput['bridges']['plugins']>[string]

/**
 * A plug-in that delivers messages to a `MessageReceiver` contract. It throws while the file `<module>.flag` exists.
 */
export interface ReceiverPlugin {
  readonly name: string
  readonly source: string
  /** 64 hex digits. */
  readonly emitter: string
  readonly target: string
  readonly contract: string
  /** First byte of the payloads that the plug-in delivers, two hex digits. */
  readonly byte: string
}

const take = 'executeVAAv1(bytes)'

/** Writes the plug-in to `dir`. Resolves with its row of `bridges.plugins`, and with the text of its file. */
export async function writeReceiverPlugin(dir: string, plugin: ReceiverPlugin): Promise<{ config: PluginConfig; text: string }> {
  const { name, source, emitter, target, contract, byte } = plugin
  const calls = [{ contract, function: take, proof: 'message' as const }]
  const routes = [{ from: [{ source, emitter }], where: { '0': byte }, to: target, calls }]
  const module = join(dir, `plugin-${name}.mjs`)
  const text = sourceOf(plugin, `${module}.flag`, JSON.stringify(routes))
  await writeFile(module, text)
  const sha256 = createHash('sha256').update(text).digest('hex')
  return { config: { module, sha256, settings: {}, routes, free: true }, text }
}

const sourceOf = ({ name, contract }: ReceiverPlugin, flag: string, routes: string) => `import { existsSync } from 'node:fs'
import { plugin, z } from 'portage/plugin'
export default plugin({ name: '${name}', version: '1', kit: 1, settings: z.object({}), create: () => ({
  routes: ${routes},
  decode() {
    if (existsSync(${JSON.stringify(flag)})) throw new Error('a scenario')
    return {}
  },
  stages: { deliver: { call: ({ bytes }) => ({ contract: '${contract}', function: '${take}', args: [bytes] }), revertsOnceDone: true } },
  delivered: ({ digest }) => [{ contract: '${contract}', view: 'isReceived(bytes32)', args: [digest], returns: 'bool', is: [true] }],
  parties: () => ({ recipient: '${contract}', token: '${name}' }),
}) })
`
