import { Interface } from 'ethers'
import { expect, test } from 'vitest'
import { checkContracts } from '../../cli/doctor/chains.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'

const abi = new Interface([
  'function chainId() view returns (uint16)',
  'function wormhole() view returns (address)',
  'function getCurrentGuardianSetIndex() view returns (uint32)',
  'function getGuardianSet(uint32) view returns (tuple(address[] keys, uint32 expirationTime))',
])
const [core, tokenBridge, nothing, other] = ['a', 'b', 'c', 'd'].map((digit) => `0x${digit.repeat(40)}`) as [string, string, string, string]
const answers: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  [core]: { chainId: 2, getCurrentGuardianSetIndex: 0, getGuardianSet: [[core], 0] },
  [tokenBridge]: { chainId: 2, wormhole: core },
  [other]: {},
}

const reader = {
  name: 'ethereum',
  async call(to: string, data: string) {
    const { name } = abi.parseTransaction({ data })!
    const known = answers[to]
    if (!known) return '0x'
    if (!(name in known)) throw new RelayerError('NODE_REFUSED', { detail: 'eth_call: execution reverted' })
    return abi.encodeFunctionResult(name, [known[name]])
  },
}

test('portage doctor reports the address in the config of a Wormhole contract that does not exist', async () => {
  expect((await checkContracts('chain ethereum', reader, { core, tokenBridge }, 2)).map(({ status }) => status)).toEqual(['ok', 'ok'])
  for (const wrong of [nothing, other]) {
    const of = async (contracts: { core: string; tokenBridge: string }) =>
      (await checkContracts('chain ethereum', reader, contracts, 2)).map(({ status, detail, remedy }) => [status, detail, remedy])
    const about = expect.stringContaining(`${wrong} is not such a contract`)
    expect((await of({ core: wrong, tokenBridge }))[0]).toEqual(['fail', about, 'Correct contracts.core of this chain.'])
    expect((await of({ core, tokenBridge: wrong }))[1]).toEqual(['fail', about, 'Correct contracts.tokenBridge of this chain.'])
  }
})

test('portage doctor reports a token bridge that is configured as the core contract', async () => {
  const [found] = await checkContracts('chain ethereum', reader, { core: tokenBridge, tokenBridge }, 2)
  expect(found).toMatchObject({ status: 'fail', remedy: 'Correct contracts.core of this chain.' })
})
