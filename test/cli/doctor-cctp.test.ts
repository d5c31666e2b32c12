import { Interface, zeroPadValue } from 'ethers'
import { expect, test } from 'vitest'
import type { CctpContracts } from '../../bridges/cctp/routes.ts'
import { cctpFinding } from '../../cli/doctor/cctp.ts'

const address = (digits: string) => `0x${digits.repeat(20)}`
const [transmitter, messenger, remote] = [address('a1'), address('b2'), address('c3')]
const contractsOf = (of: string): CctpContracts => ({ transmitter, tokenMessenger: zeroPadValue(of, 32) })
const ends = [
  { chain: 'ethereum', networkId: '1', domain: 0, contracts: { 2: contractsOf(messenger) } },
  { chain: 'base', networkId: '2', domain: 6, contracts: { 2: contractsOf(remote) } },
]
const abi = new Interface(
  [
    ...['localDomain() view returns (uint32)', 'version() view returns (uint32)', 'paused() view returns (bool)'],
    ...['localMessageTransmitter() view returns (address)', 'remoteTokenMessengers(uint32) view returns (bytes32)'],
    ...['signatureThreshold() view returns (uint256)', 'getNumEnabledAttesters() view returns (uint256)'],
    'getEnabledAttester(uint256) view returns (address)',
  ].map((one) => `function ${one}`),
)

const right = {
  ...{ localDomain: 0, version: 1, paused: false, localMessageTransmitter: transmitter },
  ...{
    remoteTokenMessengers: zeroPadValue(remote, 32),
    signatureThreshold: 1,
    getNumEnabledAttesters: 1,
    getEnabledAttester: address('d4'),
  },
}

function finding(answers: Partial<Record<keyof typeof right, unknown>> = {}, code: readonly string[] = [transmitter, messenger]) {
  const all: Readonly<Record<string, unknown>> = { ...right, ...answers }
  const reader = {
    name: 'ethereum',
    hasCode: async (contract: string) => code.includes(contract),
    async call(_: string, data: string) {
      const { name } = abi.parseTransaction({ data })!
      return all[name] === undefined ? '0x' : abi.encodeFunctionResult(name, [all[name]])
    },
  }
  return cctpFinding(reader, ends[0]!, { version: 2, own: contractsOf(messenger), ends })
}

test("portage doctor accepts the config's CCTP contracts, and warns of a paused one", async () => {
  expect(await finding()).toBe(`${transmitter}, 1 of 1 attesters must sign`)
  expect(await finding({ paused: true })).toMatchObject({ status: 'warn', detail: expect.stringContaining('it is paused') })
})

test.each([
  ['of another domain', { localDomain: 3 }, 'belongs to domain 3, not 0'],
  ['of v1', { version: 0 }, 'is not of v2'],
  ['of another transmitter', { localMessageTransmitter: remote }, `belongs to the MessageTransmitter ${remote}`],
  ['with another remote messenger', { remoteTokenMessengers: zeroPadValue(messenger, 32) }, 'the TokenMessenger of base is'],
  ['of another kind', { localDomain: undefined }, 'does not answer as CCTP does'],
])('contracts %s fail', async (_, answers, detail) => {
  expect(await finding(answers)).toMatchObject({ status: 'fail', detail: expect.stringContaining(detail) })
})

test('portage doctor fails for a CCTP address without code', async () => {
  expect(await finding({}, [transmitter])).toMatchObject({ status: 'fail', detail: `${messenger} has no code` })
})
