import { Interface } from 'ethers'
import { expect, test } from 'vitest'
import { checkRegistered } from '../../cli/doctor/services.ts'

const abi = new Interface(['function bridgeContracts(uint16 chainId) view returns (bytes32)'])
const known = { 1: 'ec', 21: 'cc', 22: 'dd' } as const
const heard = [1, 21, 22, 30].map((emitterChain) => ({
  emitterChain,
  emitter: (known[emitterChain as keyof typeof known] ?? 'ee').repeat(32),
  sourceChain: `wormhole-${emitterChain}`,
}))
const target = (registered: Readonly<Record<number, string>>) => ({
  name: 'ethereum',
  async call(_: string, data: string) {
    const [chain] = abi.decodeFunctionData('bridgeContracts', data)
    return abi.encodeFunctionResult('bridgeContracts', [`0x${(registered[Number(chain)] ?? '00').repeat(32)}`])
  },
})
const check = (registered: Readonly<Record<number, string>>) => checkRegistered(target(registered), `0x${'b0'.repeat(20)}`, heard)

test('portage doctor lists sources that a target has not registered, but does not warn of them', async () => {
  expect(await check({ ...known, 30: 'ee' })).toBe('4 of 4 are registered')
  expect(await check(known)).toBe('3 of 4 are registered; none for Base (wormhole-30)')
})

test('portage doctor warns if a target has registered another emitter than the config', async () => {
  expect(await check({ ...known, 21: 'ff' })).toEqual({
    status: 'warn',
    detail: '2 of 4 are registered; none for Base (wormhole-30); another emitter than the config for Sui (wormhole-21)',
    remedy: 'Their transfers are refused here (EMITTER_UNKNOWN): correct everySource or emitters of bridges.wormhole-token-bridge.',
  })
})
