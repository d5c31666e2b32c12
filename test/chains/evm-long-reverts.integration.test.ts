import { hexlify, randomBytes } from 'ethers'
import { expect, test } from 'vitest'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { evmSetting } from './setting.ts'

const { address } = devnetAccount(7)
const { anvil, connectBehind } = evmSetting(60)

/** Puts a contract that ends every call with 600,000 zero bytes at a fresh address. */
async function contractThat(how: 'reverts' | 'returns'): Promise<string> {
  const contract = hexlify(randomBytes(20))
  // PUSH3 600000, PUSH1 0, then REVERT or RETURN.
  await anvil.rpc('anvil_setCode', [contract, `0x620927c06000${how === 'reverts' ? 'fd' : 'f3'}`])
  return contract
}

test.each([1, 3])('a revert that is too long for an answer counts as a revert, not as a failure of %i nodes', async (count) => {
  const { chain } = await connectBehind(count)
  chain.heads.stop()
  const [reverts, returns] = [await contractThat('reverts'), await contractThat('returns')]
  const revert = { data: '0x', reason: expect.stringContaining('longer than') as string }
  for (let times = 0; times < 4; times++)
    expect(await chain.simulate({ to: reverts, data: '0x', value: '0' }, address)).toEqual({ ok: false, revert })
  for (const contract of [reverts, returns])
    for (const at of ['latest', 'agreed-latest'] as const)
      await expect(chain.call(contract, '0x', at)).rejects.toMatchObject({ code: 'NODE_REFUSED', rpcCode: 3 })
  for (const node of chain.nodes()) expect(node).toMatchObject({ state: 'up', failures: 0 })
})

test('an estimate reads at most 64 KiB of a revert, which leaves memory for other answers', async () => {
  const { chain } = await connectBehind(1)
  chain.heads.stop()
  const contract = hexlify(randomBytes(20))
  // PUSH3 40000, PUSH1 0, REVERT.
  await anvil.rpc('anvil_setCode', [contract, '0x62009c406000fd'])
  const revert = { data: '0x', reason: expect.stringContaining('longer than 65536 bytes') as string }
  expect(await chain.simulate({ to: contract, data: '0x', value: '0' }, address)).toEqual({ ok: false, revert })
  expect(chain.nodes()).toEqual([expect.objectContaining({ state: 'up', failures: 0 })])
})
