import { expect, test } from 'vitest'
import { ofChain } from '../../domain/transfer/transfer.ts'

test('a part of a chain that the process does not serve is refused with the chains that it serves', () => {
  const parts = new Map([
    ['bsc', 1],
    ['ethereum', 2],
  ])
  expect(ofChain(parts, { chain: 'ethereum' })).toBe(2)
  const refused = { code: 'TARGET_CHAIN_UNSUPPORTED', facts: { bridge: 'native-bridge', chain: 'nowhere' } }
  const of = (given: typeof parts | undefined) => () => ofChain(given, { chain: 'nowhere', bridge: 'native-bridge' })
  expect(of(parts)).toThrow(expect.objectContaining({ ...refused, message: expect.stringContaining('This process serves bsc, ethereum.') }))
  for (const none of [undefined, new Map<string, number>()])
    expect(of(none)).toThrow(expect.objectContaining({ ...refused, message: expect.stringContaining('This process serves no chain.') }))
})
