import { getBytes, toBeHex } from 'ethers'
import { expect, test } from 'vitest'
import type { ContractReader } from '../../bridges/kit/contract-reader.ts'
import { createDecimals } from '../../bridges/kit/decimals.ts'
import { createAmountDecimals, parseTokenTransfer } from '../../bridges/wormhole-token-bridge/token-bridge.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { transferPayload } from '../helpers/vaa.ts'

const address = `0x${'ab'.repeat(20)}`
const transferOf = (fields: Parameters<typeof transferPayload>[0]) =>
  parseTokenTransfer(getBytes(transferPayload({ ...fields, toChain: 4 })))
const word = (value: bigint | string) => toBeHex(value, 32)

function answering(...answers: readonly (string | Error)[]) {
  const asked: [string, string][] = []
  const chain: ContractReader = {
    name: 'bsc',
    async call(to, _, at) {
      const answer = answers[Math.min(asked.push([to, at]), answers.length) - 1]!
      if (answer instanceof Error) throw answer
      return answer
    },
  }
  return { chain, asked }
}

test('a token is read once, from most nodes, by however many transfers', async () => {
  const { chain, asked } = answering(word(6n))
  const decimals = createDecimals()
  const read = () => decimals('a', async () => ({ chain, address }))
  expect(await Promise.all([read(), read()])).toEqual([6, 6])
  expect([await read(), asked]).toEqual([6, [[address, 'majority-latest']]])
})

test('after an impossible or a missing answer, decimals are unknown and are read again', async () => {
  // Truncated to a uint8, the answer 262 would be 6.
  const { chain } = answering(word(262n), '0x', new RelayerError('NODE_UNAVAILABLE'), word(18n))
  const decimals = createDecimals()
  const seen: (number | undefined)[] = []
  for (let read = 0; read < 4; read++) seen.push(await decimals('a', async () => ({ chain, address })))
  expect(seen).toEqual([undefined, undefined, undefined, 18])
})

test('a node that does not answer delays no start', async () => {
  const chain: ContractReader = { name: 'bsc', call: () => new Promise(() => {}) }
  expect(await createDecimals()('a', async () => ({ chain, address }))).toBeUndefined()
})

test.each([
  ['of the origin, at most 8', [2, 18n, 8]],
  ['of the origin, if fewer', [2, 6n, 6]],
  ['of the wrapped token, if the origin is not connected', [9, 7n, 7]],
] as const)('the token bridge cuts amounts to the decimals %s', async (_, [tokenChain, own, wanted]) => {
  const { chain, asked } = answering(...(tokenChain === 2 ? [] : [word(address)]), word(own))
  const transfer = transferOf({ token: address.slice(2).padStart(64, '0'), tokenChain })
  const decimals = createAmountDecimals((id) => (id === 9 ? undefined : { chain, tokenBridge: `0x${'b'.repeat(40)}` }))
  expect(await decimals(transfer)).toBe(wanted)
  expect(asked.at(-1)).toEqual([address, 'majority-latest'])
})

test('a token that is wrapped nowhere, or whose address is of another family, is not known', async () => {
  const { chain, asked } = answering(word(0n))
  const of = (token: string, tokenChain: number) =>
    createAmountDecimals((id) => (id === 9 ? undefined : { chain, tokenBridge: address }))(transferOf({ token, tokenChain }))
  expect(await of('1'.repeat(64), 9)).toBeUndefined()
  expect(await of('1'.repeat(64), 2)).toBeUndefined()
  expect(asked).toHaveLength(1)
})
