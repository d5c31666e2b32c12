import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { coreAbi } from '../../bridges/kit/signed-messages.ts'
import type { ConfiguredPlugin } from '../../bridges/packages/load.ts'
import { pluginsSchema } from '../../config/schema/plugin-schema.ts'
import { configSchema } from '../../config/schema/schema.ts'
import { devnetGuardians } from '../../lab/devnet/chain/accounts.ts'

export const contract = `0x${'aa'.repeat(20)}`
export const emitter = 'e'.repeat(64)
export const context = { chains: new Map(Object.entries({ ethereum: 2, bsc: 4 })) }
export const names = new Map([
  [2, 'ethereum'],
  [4, 'bsc'],
])
export const routes: ConfiguredPlugin['routes'] = [
  {
    from: [{ source: 'ethereum', emitter }],
    where: { '0': '01' },
    to: 'bsc',
    calls: [{ contract, function: 'take(bytes)', proof: 'message' }],
  },
]
export const settings = { contract }

/** Source code of a plug-in. `parts` replaces fields of the object that the plug-in creates. */
export const source = (parts: Readonly<Record<string, string>> = {}, head = `name: 'mine', version: '1', kit: 1`) => {
  const all = {
    routes: `[{ from: [{ source: 'ethereum', emitter: '${emitter}' }], where: { 0: '01' }, to: 'bsc', calls: [{ contract, function: 'take(bytes)', proof: 'message' }] }]`,
    decode: `({ payload }) => payload[1] === 9 ? undefined : { size: payload.length }`,
    stages: `{ deliver: { call: ({ bytes }) => ({ contract, function: 'take(bytes)', args: [bytes] }), revertsOnceDone: true } }`,
    delivered: `({ digest }) => [{ contract, view: 'isDone(bytes32)', args: [digest], returns: 'bool', is: [true] }]`,
    parties: `() => ({ recipient: contract, token: 'mine' })`,
    ...parts,
  }
  const body = Object.entries(all).map(([name, text]) => `${name}: ${text}`)
  return `import { plugin, z } from 'portage/plugin'
export default plugin({ ${head}, settings: z.strictObject({ contract: z.string() }), create: ({ contract }) => ({ ${body.join(',\n')} }) })`
}

const chain = {
  family: 'evm',
  coin: 'ETH',
  nodes: [{ url: 'http://127.0.0.1:1' }],
  finality: { kind: 'tag' },
  blockTimeMs: 1_000,
  contracts: { core: contract, tokenBridge: `0x${'bb'.repeat(20)}` },
}
export const options = (plugins: Record<string, ConfiguredPlugin>, ofTokenBridge = {}) =>
  configSchema.parse({
    ...{ temporal: { namespace: 'default' } },
    chains: { ethereum: { ...chain, networkId: 1, wormholeChainId: 2 }, bsc: { ...chain, networkId: 56, wormholeChainId: 4 } },
    bridges: { 'wormhole-token-bridge': ofTokenBridge, plugins },
  })

/** A chain with guardian set 0 of one guardian in its core contract. Views of all other contracts return 0. */
export const coreChain = (name: string) => ({
  ...{ name, networkId: name, heads: { current: undefined } },
  async call(_: string, data: string) {
    const call = coreAbi.parseTransaction({ data })
    if (!call) return `0x${'0'.repeat(64)}`
    const [guardian] = devnetGuardians(1)
    return coreAbi.encodeFunctionResult(call.name, call.name === 'getGuardianSet' ? [[[guardian?.address], 0]] : [0])
  },
})

let count = 0
export async function write(folder: string, text: string, ending = 'mjs'): Promise<{ module: string; sha256: string }> {
  const module = join(folder, `plugin-${++count}.${ending}`)
  await writeFile(module, text)
  return { module, sha256: createHash('sha256').update(text).digest('hex') }
}

export const entry = (file: { module: string; sha256: string }, fields: Partial<ConfiguredPlugin> = {}) =>
  pluginsSchema.parse({ mine: { ...file, settings, routes, free: true, ...fields } })['mine'] as ConfiguredPlugin
