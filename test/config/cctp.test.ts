import { expect, test } from 'vitest'
import { crossCheck } from '../../config/load/cross-checks.ts'
import { cctpSchema } from '../../config/schema/cctp-schema.ts'

const address = (digits: string) => `0x${digits.repeat(20)}`
const contracts = { messageTransmitter: address('aA'), tokenMessenger: address('bb') }
const own = { domain: 0, v2: contracts }
const cctp = {
  attestationApis: ['https://iris.example'],
  free: true as const,
  chains: { ethereum: own, bsc: { ...own, domain: 6 } },
}
const chains = { ethereum: { networkId: 1 }, bsc: { networkId: 56 } }
const { free: _, ...listed } = { ...cctp, senders: [address('Cc')] }
const problemsOf = (fields: object) => crossCheck({ chains, bridges: { cctp: { ...cctp, ...fields } } })

test('burns of both speeds are delivered without further fields, and accounts become 32 bytes', () => {
  expect(cctpSchema.parse(listed)).toMatchObject({
    ...{ finality: 'fast', requestsPerSecond: 20, senders: [`${'0'.repeat(24)}${'cc'.repeat(20)}`], recipients: [] },
    chains: { ethereum: { domain: 0, maxOpen: 200, v2: { messageTransmitter: address('aa') } } },
  })
  expect([problemsOf({}), crossCheck({ chains, bridges: { cctp: listed } })]).toEqual([[], []])
})

test.each([
  ['no API', { attestationApis: [] }, ['attestationApis']],
  ['another finality', { finality: 'safe' }, ['finality']],
  ['free: false', { free: false }, ['free']],
  ['a sender that is no account', { senders: ['me'] }, ['senders', 0]],
  ['a negative domain', { chains: { ...cctp.chains, bsc: { ...own, domain: -1 } } }, ['chains', 'bsc', 'domain']],
  ['an unknown version', { chains: { ...cctp.chains, bsc: { ...own, v3: contracts } } }, ['chains', 'bsc']],
])('%s is refused, and the field is named', (_, fields, path) => {
  expect(cctpSchema.safeParse({ ...cctp, ...fields }).error?.issues[0]?.path).toEqual(path)
})

test.each([
  ['one chain', { chains: { ethereum: own } }, 'bridges.cctp.chains', 'has fewer than two chains'],
  ['nobody who pays', { free: undefined }, 'bridges.cctp', 'delivers no burn'],
  ['useless lists', { senders: [address('cc')] }, 'bridges.cctp.free', 'makes senders and recipients useless'],
  ['one domain for two chains', { chains: { ethereum: own, bsc: own } }, 'bridges.cctp.chains.bsc.domain', 'is the domain of ethereum too'],
  ['no contracts', { chains: { ethereum: own, bsc: { domain: 6 } } }, 'bridges.cctp.chains.bsc', 'has no contracts'],
  [
    'an unknown chain',
    { chains: { ...cctp.chains, base: { ...own, domain: 7 } } },
    'bridges.cctp.chains.base',
    'is not a chain of this config',
  ],
])('a config with %s is refused', (_, fields, path, problem) => {
  expect(problemsOf(fields)).toMatchObject([{ path, problem }])
})
