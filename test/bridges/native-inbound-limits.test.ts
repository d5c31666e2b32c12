import type { Interface } from 'ethers'
import { describe, expect, test } from 'vitest'
import type { At, HeadEvent, PlacedLog } from '../../chains/port.ts'
import { nativeBridgeAbi, tokenAbi } from '../../bridges/native-bridge/contracts.ts'
import { createInbound } from '../../bridges/native-bridge/inbound.ts'
import { createInboundLimits } from '../../bridges/native-bridge/inbound-limits.ts'
import { completionArguments, idOf, type NativeTransfer } from '../../bridges/native-bridge/message.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'

const [bridge, token, fund] = ['b1', 'c2', 'f3'].map((byte) => `0x${byte.repeat(20)}`) as [string, string, string]

function scriptedChain() {
  const state = {
    height: 100,
    used: 0n,
    balance: 4_000n,
    fund,
    funds: [] as string[],
    agreedBalance: 4_000n,
    down: false,
    /** Name of a view → the wrong answer of one node (`latest`). */
    lies: {} as Readonly<Record<string, unknown>>,
    paused: false,
    disagree: false,
    readers: 1,
    disabled: 0,
    logs: 0,
    calls: new Map<string, number>(),
  }
  const answers: Record<string, (args: readonly unknown[]) => readonly unknown[]> = {
    token: () => [token],
    insuranceFund: () => [state.funds.shift() ?? state.fund],
    riskDenominator: () => [4n],
    inboundRateLimitBudget: () => [state.used],
    paused: () => [state.paused],
    hasRole: ([, account]) => [String(account).toLowerCase() !== fund],
    balanceOf: () => [state.balance],
  }
  const block = () => ({
    height: state.height,
    hash: `0x${state.height}`,
    parentHash: '0x',
    timestamp: state.height * 10,
    transactions: [],
  })
  return {
    state,
    asked: (method: string) => state.calls.get(method) ?? 0,
    chain: {
      name: 'target',
      nodes: () =>
        Array.from({ length: state.readers }, (_, index) => ({
          ...{ name: `node-${index}`, origin: '', use: 'all' as const, failures: 0 },
          state: index < state.disabled ? ('disabled' as const) : ('up' as const),
        })),
      heads: {
        get current(): HeadEvent {
          return { applied: [], rolledBack: [], latest: block(), finalized: 0, time: block().timestamp }
        },
      },
      async call(to: string, data: string, at: At) {
        const abi: Interface = to.toLowerCase() === token ? tokenAbi : nativeBridgeAbi
        const call = abi.parseTransaction({ data })
        if (!call || state.down) throw new Error('down')
        state.calls.set(call.name, (state.calls.get(call.name) ?? 0) + 1)
        if (at === 'agreed-latest' && state.disagree) throw new RelayerError('NODES_DISAGREE')
        if (at === 'latest' && call.name in state.lies) return abi.encodeFunctionResult(call.name, [state.lies[call.name]])
        if (call.name === 'balanceOf' && at === 'agreed-latest') return abi.encodeFunctionResult(call.name, [state.agreedBalance])
        return abi.encodeFunctionResult(call.name, answers[call.name]?.(call.args.toArray()) ?? [])
      },
      async logs() {
        state.logs++
        return []
      },
    },
  }
}

function completion(transfer: NativeTransfer, height: number): PlacedLog {
  const { data, topics } = nativeBridgeAbi.encodeEventLog('BridgeTransferCompleted', completionArguments(transfer))
  return { address: bridge, data, topics, block: { height, hash: `0x${height}` }, index: 0, transactionHash: '0x' }
}

describe('the limits of a target contract', () => {
  test('contract limits are read once per block for all askers, and account limits once per account', async () => {
    const { chain, asked, state } = scriptedChain()
    const limits = createInboundLimits(chain, bridge)
    const many = await Promise.all(Array.from({ length: 50 }, () => limits.read(token)))
    expect(new Set(many.map(({ cap }) => cap))).toEqual(new Set([1_000n]))
    await Promise.all([limits.read(fund), limits.read(token), limits.mayComplete(fund)])
    expect(['paused', 'inboundRateLimitBudget', 'balanceOf', 'riskDenominator', 'hasRole', 'token'].map(asked)).toEqual([1, 1, 1, 1, 2, 1])
    expect((await limits.read(fund)).mayComplete).toBe(false)
    state.height++
    state.used = 7n
    expect((await limits.read(token)).used).toBe(7n)
    expect(['paused', 'hasRole', 'token'].map(asked)).toEqual([2, 3, 1])
  })

  test('the limits are of the token that most nodes name, because this token is remembered', async () => {
    const { chain, state } = scriptedChain()
    state.lies = { token: `0x${'00'.repeat(20)}` }
    expect((await createInboundLimits(chain, bridge).read(token)).cap).toBe(1_000n)
  })

  test('the limits of a target contract are asked for again after a failure, and after a change of the fund', async () => {
    const { chain, state, asked } = scriptedChain()
    const limits = createInboundLimits(chain, bridge)
    state.down = true
    await expect(limits.read(token)).rejects.toThrow('down')
    state.down = false
    expect((await limits.read(token)).cap).toBe(1_000n)
    state.height++
    state.fund = token
    state.balance = 8_000n
    expect((await limits.read(token)).cap).toBe(2_000n)
    // A node that names a new fund each time must not cause more reads.
    state.height++
    const before = asked('balanceOf')
    state.funds = Array.from({ length: 50 }, (_, index) => `0x${index.toString(16).padStart(40, '0')}`)
    await limits.read(token)
    expect(asked('balanceOf') - before).toBe(2)
  })
})

describe('the reservations of a target contract', () => {
  const entrant = (id: string, amount: bigint) => ({ id, amount })

  test('of many simultaneous transfers those that fit together pass; a released amount makes room', async () => {
    const { chain, state } = scriptedChain()
    const inbound = createInbound(chain, bridge)
    const asks = await Promise.all(Array.from({ length: 100 }, (_, index) => inbound.reserve(entrant(`0x${index}`, 30n), token)))
    // 33 × 30 = 990 is below the cap of 1,000.
    expect(asks.map(({ kind }) => kind)).toEqual(asks.map((_, index) => (index < 33 ? 'open' : 'route')))
    expect((await inbound.reserve(entrant('0x0', 30n), token)).kind).toBe('open')
    inbound.release('0x0')
    expect((await inbound.reserve(entrant('0x99', 30n), token)).kind).toBe('open')
    expect(state.logs).toBe(0)
  })

  test('a transfer that asks again and no longer fits has no reservation', async () => {
    const { chain, state } = scriptedChain()
    const inbound = createInbound(chain, bridge)
    await inbound.reserve(entrant('0xa', 600n), token)
    state.height++
    state.used = 500n
    expect((await inbound.reserve(entrant('0xa', 600n), token)).kind).toBe('route')
    expect((await inbound.reserve(entrant('0xb', 400n), token)).kind).toBe('open')
  })

  test('limits do not count if they are older than a completion whose reservation has ended', async () => {
    const { chain, state } = scriptedChain()
    const transfer = { initiator: bridge, recipient: `0x${'00'.repeat(12)}${'d4'.repeat(20)}`, amount: 600n, nonce: 1n }
    const done = { ...transfer, id: idOf(transfer) }
    let goOn = () => {}
    const slow = new Promise<void>((resolve) => (goOn = resolve))
    const inbound = createInbound(
      {
        ...{ name: chain.name, nodes: chain.nodes, heads: chain.heads },
        async call(to, data, at) {
          const { height } = state
          const answer = await chain.call(to, data, at)
          if (height === 102) await slow
          return answer
        },
        logs: async ({ toBlock }) => (toBlock < 103 ? [] : [completion(done, 103)]),
      },
      bridge,
    )
    expect((await inbound.reserve(done, token)).kind).toBe('open')
    state.height = 102
    const early = inbound.reserve(entrant('0xb', 600n), token)
    state.height = 104
    state.used = 600n
    expect((await inbound.reserve(entrant('0xc', 300n), token)).kind).toBe('open')
    goOn()
    expect((await early).kind).toBe('route')
    expect(inbound.fitting([entrant('0xb', 600n)])).toEqual([])
  })

  test('reads that take longer than blocks do are not begun again, however many overlap', async () => {
    const { chain, state, asked } = scriptedChain()
    const waiting: (() => void)[] = []
    const inbound = createInbound(
      {
        ...{ name: chain.name, nodes: chain.nodes, heads: chain.heads, logs: chain.logs },
        async call(to, data, at) {
          const answer = await chain.call(to, data, at)
          await new Promise<void>((resolve) => waiting.push(resolve))
          return answer
        },
      },
      bridge,
    )
    const begin = () => inbound.reserve(entrant(`0x${state.height++}`, 100n), token)
    const entered = [begin(), begin(), begin()]
    const letOn = setInterval(() => {
      state.height++
      for (const goOn of waiting.splice(0)) goOn()
    }, 1)
    try {
      expect((await Promise.all(entered)).map(({ kind }) => kind)).toEqual(['open', 'open', 'open'])
    } finally {
      clearInterval(letOn)
    }
    expect(asked('paused')).toBe(3)
  })

  test('a batch is judged by the last reading and the amounts reserved for others', async () => {
    const { chain } = scriptedChain()
    const inbound = createInbound(chain, bridge)
    const all = [entrant('0xa', 300n), entrant('0xb', 300n), entrant('0xc', 500n)]
    expect(inbound.fitting(all)).toEqual(all)
    await inbound.reserve(entrant('0xother', 300n), token)
    await inbound.reserve(all[0]!, token)
    expect(inbound.fitting(all)).toEqual([all[0], all[1]])
  })

  test('logs are read once per block while an amount is reserved, and else not at all', async () => {
    const { chain, state } = scriptedChain()
    const inbound = createInbound(chain, bridge)
    for (let block = 0; block < 3; block++, state.height++) await inbound.reserve(entrant('0xa', 2_000n), token)
    expect(state.logs).toBe(0)
    await inbound.reserve(entrant('0xa', 1n), token)
    for (let block = 0; block < 3; block++) {
      state.height++
      await Promise.all(['0xa', '0xb', '0xc'].map((id) => inbound.reserve(entrant(id, 1n), token)))
    }
    expect(state.logs).toBe(3)
  })
})

describe('a gate that only one node calls closed', () => {
  const entrant = { id: '0x01', amount: 30n }

  test.each([
    ['paused', true, 'BRIDGE_PAUSED'],
    ['hasRole', false, 'BRIDGE_ROLE_MISSING'],
    ['inboundRateLimitBudget', 5_000n, 'BRIDGE_BUDGET'],
    ['riskDenominator', 0n, 'BRIDGE_BUDGET'],
  ])('a gate that only one node calls closed holds nothing up: %s', async (method, lie, code) => {
    const { chain, state, asked } = scriptedChain()
    Object.assign(state, { readers: 3, lies: { [method]: lie } })
    const inbound = createInbound(chain, bridge)
    const ids = Array.from({ length: 20 }, (_, index) => ({ ...entrant, id: `0x${index}` }))
    expect(new Set((await Promise.all(ids.map((each) => inbound.reserve(each, token)))).map(({ kind }) => kind))).toEqual(new Set(['open']))
    // All waiting transfers share two reads: one of the first node, and one of the majority.
    expect(asked(method)).toBe(2)
    expect(inbound.fitting([entrant])).toEqual([entrant])
    expect(await inbound.mayComplete(token)).toBe(true)
    // If the nodes disagree, or if the chain has only one node, the first node's answer counts.
    state.height++
    state.disagree = true
    expect(await inbound.reserve(entrant, token)).toMatchObject({ code })
    state.height++
    Object.assign(state, { disagree: false, readers: 1 })
    expect(await inbound.reserve(entrant, token)).toMatchObject({ code })
  })

  test('a gate that one node calls closed stays open if the other nodes of the config are disabled', async () => {
    const { chain, state } = scriptedChain()
    Object.assign(state, { readers: 3, disabled: 2, lies: { paused: true, hasRole: false } })
    const inbound = createInbound(chain, bridge)
    expect(await inbound.reserve(entrant, token)).toMatchObject({ kind: 'open' })
    expect(await inbound.mayComplete(token)).toBe(true)
  })

  test('a gate is closed if most nodes say so', async () => {
    const { chain, state } = scriptedChain()
    Object.assign(state, { readers: 3, paused: true })
    const inbound = createInbound(chain, bridge)
    expect(await inbound.reserve(entrant, token)).toMatchObject({ code: 'BRIDGE_PAUSED' })
    expect(await inbound.mayComplete(fund)).toBe(false)
  })
})

describe('an amount above the daily cap', () => {
  test('an amount above the cap is parked by most nodes, and waits if one node alone shows a smaller cap', async () => {
    const { chain, state, asked } = scriptedChain()
    const inbound = createInbound(chain, bridge)
    const entrant = { id: '0x01', amount: 900n }
    state.balance = 400n
    expect(await inbound.reserve(entrant, token)).toMatchObject({ kind: 'route', code: 'BRIDGE_BUDGET' })
    await Promise.all([1, 2, 3].map(() => inbound.reserve(entrant, token)))
    expect(asked('balanceOf')).toBe(2)
    state.height++
    state.agreedBalance = 400n
    expect(await inbound.reserve(entrant, token)).toMatchObject({ kind: 'transfer', code: 'BRIDGE_CAP' })
  })
})
