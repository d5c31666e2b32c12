import { hexlify, randomBytes } from 'ethers'
import { expect, test } from 'vitest'
import { RpcError } from '../../chains/evm/nodes/node-errors.ts'
import { revertOf } from '../../chains/evm/transactions/simulate.ts'
import { devnetAccount } from '../../lab/devnet/chain/accounts.ts'
import { until } from '../../lab/devnet/until.ts'
import { evmSetting } from './setting.ts'

const { address } = devnetAccount(7)
const { anvil, connectBehind } = evmSetting(60)
const intent = { to: address, data: '0x', value: '0' }

async function contractWith(code: string): Promise<string> {
  const contract = hexlify(randomBytes(20))
  await anvil.rpc('anvil_setCode', [contract, code])
  return contract
}

test('the fee policy limits the gas that nodes execute for a call', async () => {
  const { chain, behind } = await connectBehind(3)
  const asked: unknown[] = []
  for (const node of behind)
    node.refuse = (method, params) => (method === 'eth_estimateGas' ? void asked.push((params[0] as { gas?: string }).gas) : undefined)
  // JUMPDEST, PUSH1 0, JUMP: a loop without end.
  const loop = await contractWith('0x5b600056')
  const call = { ...intent, to: loop }
  expect(await chain.simulate(call, address, { atMost: '3000000' })).toMatchObject({ ok: false, needsMore: true })
  expect(new Set(asked)).toEqual(new Set(['0x2dc6c0']))
  expect(await chain.simulate(call, address)).not.toHaveProperty('needsMore')
  expect(await chain.simulate(intent, address, { atMost: '3000000' })).toMatchObject({ ok: true })
  for (const node of chain.nodes()) expect(node).toMatchObject({ state: 'up', failures: 0 })
})

test('a call that nodes execute slowly delays no other read, and no node counts as failed', async () => {
  const { chain, behind } = await connectBehind(3, { timeoutMs: 1_000 })
  for (const node of behind) node.delayMs = (methods) => (methods.includes('eth_estimateGas') ? 3_000 : 0)
  const read = async (): Promise<number> => {
    const started = performance.now()
    await chain.block(1, 'latest')
    return performance.now() - started
  }
  const [simulation, tookMs] = await Promise.all([chain.simulate(intent, address).catch(({ code }: { code: string }) => code), read()])
  expect(simulation).toBe('NODE_UNAVAILABLE')
  expect(tookMs).toBeLessThan(900)
  await until(async () => chain.nodes().every(({ state }) => state === 'up'), { timeoutMs: 5_000, what: 'the nodes to answer a probe' })
  for (const node of chain.nodes()) expect(node).toMatchObject({ failures: 0 })
})

test('a node that answers nothing counts as failed, even if a call to a contract shows this first', async () => {
  const { chain, first } = await connectBehind(3, { timeoutMs: 300 })
  first.mode = 'hang'
  expect(await chain.simulate(intent, address)).toMatchObject({ ok: true })
  await until(async () => chain.nodes()[0]?.state === 'failing', { timeoutMs: 10_000, what: 'the node to fail' })
})

test.each(['failing', 'disabled'] as const)('after a late answer to a call, a node that is %s by then is not asked', async (state) => {
  const { chain, first } = await connectBehind(3, { timeoutMs: 1_000 })
  first.delayMs = (methods) => (methods.includes('eth_estimateGas') ? 5_000 : 0)
  const simulation = chain.simulate({ ...intent, value: '7' }, address)
  await until(async () => first.requests.flat().includes('eth_estimateGas'), { timeoutMs: 5_000, what: 'the estimate' })
  if (state === 'disabled') chain.adjustNodes([{ chain: 'test', name: 'node-1', disabled: true }])
  else Object.assign(first, { mode: 429, retryAfter: '30' })
  await until(async () => chain.nodes()[0]?.state === state, { timeoutMs: 900, what: `the node to be ${state}` })
  Object.assign(first, { mode: 'pass' })
  first.requests.length = 0
  expect(await simulation).toMatchObject({ ok: true })
  await chain.block(1, 'latest')
  expect(first.requests).toEqual([])
  expect(chain.nodes()[0]).toMatchObject({ state })
})

test.each([
  'failed with 3000000 gas: insufficient gas for floor data gas cost: have 3000000, want 3780000',
  'intrinsic gas too low',
  'Cannot estimate gas, gas spent exceeded transaction and block gas limit',
  'OutOfGas',
])('a call needs more gas than allowed only if most nodes say so: %s', async (message) => {
  const { chain, behind } = await connectBehind(3)
  const says = (method: string) => (method === 'eth_estimateGas' ? { code: -32_000, message } : undefined)
  const call = { ...intent, value: '1' }
  for (const node of behind.slice(0, 2)) node.refuse = says
  expect(await chain.simulate(call, address, { atMost: '3000000' })).toMatchObject({ ok: false, needsMore: true })
  behind[1]!.refuse = (method) => (method === 'eth_estimateGas' ? { code: -32_601, message: 'the method does not exist' } : undefined)
  behind[2]!.refuse = behind[1]!.refuse
  expect(await chain.simulate(call, address, { atMost: '3000000' })).not.toHaveProperty('needsMore')
})

test('a node that hangs only on calls to contracts is asked last for a while', async () => {
  const { chain, first } = await connectBehind(3, { timeoutMs: 1_000 })
  first.delayMs = (methods) => (methods.includes('eth_estimateGas') ? 5_000 : 0)
  const took = async (value: string) => {
    const started = performance.now()
    expect(await chain.simulate({ ...intent, value }, address)).toMatchObject({ ok: true })
    return performance.now() - started
  }
  expect(await took('1')).toBeGreaterThan(900)
  await until(async () => chain.nodes()[0]?.state === 'up', { timeoutMs: 5_000, what: 'the node to answer the probe' })
  expect(await took('2')).toBeLessThan(900)
})

test.each([
  'invalid jump destination',
  'InvalidJumpDestination',
  'return data out of bounds',
  'AccessViolation',
  'write protection',
  'StaticCallViolation',
  'gas uint64 overflow',
  'max call depth exceeded',
  'BadInstruction',
  'Transaction execution fails',
])('an error of a node means that the call halts: %s', (message) => {
  expect(revertOf(new RpcError('node', 'eth_estimateGas', { code: -32_000, message }))).toMatchObject({ data: '0x' })
})

test('an internal error is a verdict about the call only if most nodes report it', async () => {
  const { chain, behind } = await connectBehind(3)
  const fails = (method: string) => (method === 'eth_estimateGas' ? { code: -32_603, message: 'Internal error' } : undefined)
  behind[0]!.refuse = fails
  expect(await chain.simulate(intent, address)).toMatchObject({ ok: true })
  behind[1]!.refuse = fails
  behind[2]!.refuse = fails
  expect(await chain.simulate(intent, address)).toEqual({ ok: false, revert: { data: '0x', reason: 'the call halts' } })
  for (const node of behind)
    node.refuse = (method) => (method === 'eth_estimateGas' ? { code: -32_000, message: 'missing trie node' } : undefined)
  await expect(chain.simulate({ ...intent, value: '1' }, address)).rejects.toMatchObject({ code: 'NODE_REFUSED' })
})
