import { expect, test } from 'vitest'
import { createPluginMessages } from '../../../bridges/kit/plugin-bridge.ts'
import type { Plugin } from '../../../bridges/kit/plugin.ts'
import { guarded } from '../../../bridges/packages/guard.ts'
import { fuzzPlugin } from '../../../lab/plugins/fuzz.ts'
import { contract, emitter, names, routes } from '../../bridges/plugin-source.ts'
import { signVaa } from '../../helpers/vaa.ts'

async function fuzz(next: Plugin<unknown>['next']): Promise<void> {
  const plugin = guarded<unknown>({
    ...{ name: 'mine', routes, decode: () => ({}), ...(next && { next }) },
    stages: { deliver: { call: ({ bytes }) => ({ contract, function: 'take(bytes)', args: [bytes] }), revertsOnceDone: true } },
    delivered: ({ digest }) => [{ contract, view: 'isDone(bytes32)', args: [digest], returns: 'bool', is: [true] }],
    parties: () => ({ recipient: contract, token: 'mine' }),
  })
  const messages = createPluginMessages(plugin, names)
  const { bytes } = signVaa({ emitterChain: 2, emitter, sequence: 7n, payload: '0x0102' }, { guardians: 1 })
  return fuzzPlugin(plugin, messages, [messages.readBytes(bytes)])
}

const view = (returns: string) => ({ contract, view: 'since(bytes32)', args: [], returns })

test('a next that takes every answer of a view passes, also if it passes on errors of nodes', async () => {
  const next: Plugin<unknown>['next'] = async (_, { read }) => {
    const [since, [isOpen, queue], name, data] = (await read(view('uint64,tuple(bool,uint256[]),string,bytes4'))) as [
      bigint,
      [boolean, bigint[]],
      string,
      string,
    ]
    if (isOpen && queue.every((one) => one >= 0n)) return { stage: 'deliver' }
    return { wait: `${name} ${data.length}`, opensAt: Number(since) }
  }
  await expect(fuzz(next)).resolves.toBeUndefined()
  await expect(fuzz(undefined)).resolves.toBeUndefined()
})

test.each<[string, Plugin<unknown>['next'], string]>([
  [
    'throws for an empty list',
    async (_, { read }) => {
      const [list] = (await read(view('address[]'))) as [string[]]
      return { wait: list[0]!.slice(2) }
    },
    'Cannot read properties of undefined',
  ],
  [
    'divides by an answer that may be zero',
    async (_, { read }) => {
      const [rate] = (await read(view('uint256'))) as [bigint]
      return { wait: String(10n / rate) }
    },
    'Division by zero',
  ],
  ['names a stage that it does not have', async () => ({ stage: 'pay' }), 'next returned a stage that it does not have'],
])('a next is found that %s', async (_, next, problem) => {
  await expect(fuzz(next)).rejects.toThrow(new RegExp(`payload 0x.*and random answers of views: .*${problem}`, 's'))
})
