import { Interface } from 'ethers'
import { describe, expect, test } from 'vitest'
import { read } from '../../bridges/kit/contract-reader.ts'
import type { At } from '../../chains/port.ts'

const abi = new Interface(['function open() view returns (bool)'])
const to = `0x${'33'.repeat(20)}`
const yes = `0x${'1'.padStart(64, '0')}`

function chainOf(answers: Partial<Record<At, string>>) {
  const asked: At[] = []
  const call = (_to: string, _data: string, at: At) => {
    asked.push(at)
    return Promise.resolve(answers[at] ?? '0x')
  }
  return { asked, chain: { name: 'test', call } }
}

describe('one node answers what no such contract answers', () => {
  test.each([
    ['latest', 'majority-latest', '0x'],
    ['latest', 'majority-latest', `0x${'22'.repeat(31)}`],
    ['finalized', 'agreed', '0x01'],
  ] as const)('if one node gives an impossible answer at %s, %s decides, after %s', async (at, most, lie) => {
    const { chain, asked } = chainOf({ [at]: lie, [most]: yes })
    expect([...(await read(chain, { abi, to, method: 'open', at }))]).toEqual([true])
    expect(asked).toEqual([at, most])
  })

  test('a well-formed answer costs one read, and most nodes decide that an address in the config is wrong', async () => {
    const good = chainOf({ latest: yes })
    await read(good.chain, { abi, to, method: 'open' })
    expect(good.asked).toEqual(['latest'])
    for (const at of ['latest', 'finalized', 'agreed', 'majority-latest'] as const)
      await expect(read(chainOf({}).chain, { abi, to, method: 'open', at })).rejects.toMatchObject({
        code: 'NODE_REFUSED',
        message: expect.stringContaining('check its address'),
      })
  })
})
