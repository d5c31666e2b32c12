import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Interface } from 'ethers'
import { accountIndex, devnetAccount, freshAddress } from '../../../lab/devnet/chain/accounts.ts'
import { startAnvil, type Anvil } from '../../../lab/devnet/chain/anvil.ts'
import { Script } from '../../../lab/devnet/chain/contracts.ts'
import {
  completionOf,
  deployNativeBridge,
  initiate,
  nativeBridgeAbi,
  type Completion,
  type NativeBridgeEnd,
  type NativeBridgeVariant,
} from '../../../lab/devnet/native/native-bridge.ts'

const relayer = devnetAccount(accountIndex.lane)
const stranger = devnetAccount(accountIndex.outsider)
const erc20 = new Interface(['function balanceOf(address) view returns (uint256)'])
/** The daily cap, a quarter of the insurance fund, in wei. The amounts of a day must stay below the cap. */
const cap = 10n ** 17n / 4n

interface At {
  readonly abi: Interface
  readonly source: NativeBridgeEnd
  readonly target: NativeBridgeEnd
}

describe('the fixed native bridge', () => {
  const at = setting('fixed')
  sharedBehaviour(at)

  test('the fixed native bridge can be paused', async () => {
    const { source } = at
    await toggle(at)
    expect(await refusal(at, source, source.user.address, 'initiateBridgeTransfer', [`0x${'11'.repeat(32)}`, 1n])).toBe('EnforcedPause')
    await toggle(at)
    expect(await initiate(source, [{ to: freshAddress(), amount: 1n }])).toHaveLength(1)
  })
})

describe('the strict native bridge, with the defects of the deployed one', () => {
  const at = setting('strict')
  sharedBehaviour(at)

  test('the deployed native bridge cannot be paused', async () => {
    expect(await refusal(at, at.source, at.source.deployer.address, 'togglePause', [])).toBe('ExpectedPause')
  })

  test("the deployed native bridge lets anyone spend the day's budget", async () => {
    const { source, target, abi } = at
    const day = BigInt(Math.floor((await timestamp(target)) / 86_400))
    const [before] = (await read(at, target, 'inboundRateLimitBudget', [day])) as [bigint]
    const script = await Script.of(target.anvil, stranger)
    script.call(target.bridge, abi, '_rateLimitInbound', [cap - before - 1n])
    await script.mine()
    const [one] = await initiate(source, [{ to: freshAddress(), amount: 5n }])
    expect(await refusal(at, target, relayer.address, 'completeBridgeTransfer', completionOf(one!))).toBe('InboundRateLimitExceeded')
  })
})

/** Access to the bridge of a variant. The fields exist only after `beforeAll` has run. */
function setting(variant: NativeBridgeVariant): At {
  const at = {} as { -readonly [Key in keyof At]: At[Key] }
  let nodes: Anvil[] = []
  beforeAll(async () => {
    nodes = await Promise.all([1337, 1397].map((chainId) => startAnvil({ chainId, blockTimeSeconds: 0.2 })))
    const [source, target] = await Promise.all(nodes.map((anvil, index) => deploy(anvil, index, variant)))
    Object.assign(at, { source, target, abi: await nativeBridgeAbi(variant) })
  })
  afterAll(() => Promise.all(nodes.map((node) => node.stop())))
  return at
}

function sharedBehaviour(at: At): void {
  test('the deployed native bridge numbers transfers from 1, and completes each once on the other side', async () => {
    const { source, target } = at
    const to = freshAddress()
    const [first, second] = await initiate(source, [
      { to, amount: 700n },
      { to, amount: 1n },
    ])
    expect([first?.nonce, second?.nonce]).toEqual([1n, 2n])
    const [recorded] = [await read(at, source, 'noncesToOutboundTransfers', [1n])]
    expect(recorded).toEqual([first?.id, expect.stringMatching(new RegExp(source.user.address, 'i')), first?.recipient, 700n])
    const completion = completionOf(first!)
    expect(await read(at, target, 'idsToInboundNonces', [first!.id])).toEqual([0n])
    await complete(at, target, completion)
    expect(await read(at, target, 'idsToInboundNonces', [first!.id])).toEqual([1n])
    expect(await balance(target, to)).toBe(700n)
    expect(await refusal(at, target, relayer.address, 'completeBridgeTransfer', completion)).toBe('CompletedBridgeTransferId')
  })

  test('the deployed native bridge checks role, budget, nonce, completion and id, in this order', async () => {
    const { source, target } = at
    const [one] = await initiate(source, [{ to: freshAddress(), amount: 5n }])
    const [id, initiator, recipient, , nonce] = completionOf(one!)
    const over: Completion = [id, initiator, recipient, cap, 0n]
    expect(await refusal(at, target, stranger.address, 'completeBridgeTransfer', over)).toBe('AccessControlUnauthorizedAccount')
    expect(await refusal(at, target, relayer.address, 'completeBridgeTransfer', over)).toBe('InboundRateLimitExceeded')
    expect(await refusal(at, target, relayer.address, 'completeBridgeTransfer', [id, initiator, recipient, 5n, 0n])).toBe('InvalidNonce')
    const wrong: Completion = [id, initiator, recipient, 6n, nonce]
    expect(await refusal(at, target, relayer.address, 'completeBridgeTransfer', wrong)).toBe('InvalidBridgeTransferId')
    await complete(at, target, [id, initiator, recipient, 5n, nonce])
    // A spent budget hides that the transfer is completed, so relayers read idsToInboundNonces.
    expect(await refusal(at, target, relayer.address, 'completeBridgeTransfer', [id, initiator, recipient, cap, nonce])).toBe(
      'InboundRateLimitExceeded',
    )
    expect(await refusal(at, target, relayer.address, 'completeBridgeTransfer', wrong)).toBe('CompletedBridgeTransferId')
  })

  test('the deployed native bridge completes a batch whole or not at all', async () => {
    const { source, target } = at
    const sent = await initiate(
      source,
      [1n, 2n, 3n].map((amount) => ({ to: freshAddress(), amount })),
    )
    const good = sent.map(completionOf)
    const bad = good.map((one, index): Completion => (index === 1 ? [one[0], one[1], one[2], 99n, one[4]] : one))
    expect(await refusal(at, target, relayer.address, 'batchCompleteBridgeTransfer', columns(bad))).toBe('InvalidBridgeTransferId')
    expect(await refusal(at, target, relayer.address, 'batchCompleteBridgeTransfer', [[], ...columns(good).slice(1)])).toBe(
      'InvalidLenghts',
    )
    const script = await Script.of(target.anvil, relayer)
    script.call(target.bridge, at.abi, 'batchCompleteBridgeTransfer', columns(good))
    await script.mine()
    for (const { id, nonce } of sent) expect(await read(at, target, 'idsToInboundNonces', [id])).toEqual([nonce])
  })

  test('the deployed native bridge refuses an amount of 0, and a risk denominator below 4', async () => {
    const { source } = at
    expect(await refusal(at, source, source.user.address, 'initiateBridgeTransfer', [`0x${'11'.repeat(32)}`, 0n])).toBe('ZeroAmount')
    expect(await refusal(at, source, source.deployer.address, 'setRiskDenominator', [3n])).toBe('InvalidRiskDenominator')
  })
}

async function toggle({ source, abi }: At): Promise<void> {
  const script = await Script.of(source.anvil, source.deployer)
  script.call(source.bridge, abi, 'togglePause', [])
  await script.mine()
}

async function read({ abi }: At, { anvil, bridge }: NativeBridgeEnd, method: string, args: readonly unknown[]): Promise<unknown[]> {
  const answer = await anvil.rpc<string>('eth_call', [{ to: bridge, data: abi.encodeFunctionData(method, args) }, 'latest'])
  return abi.decodeFunctionResult(method, answer).toArray()
}

async function refusal(
  { abi }: At,
  { anvil, bridge }: NativeBridgeEnd,
  from: string,
  method: string,
  args: readonly unknown[],
): Promise<string> {
  const params = [{ from, to: bridge, data: abi.encodeFunctionData(method, args) }, 'latest']
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_call', params })
  const response = await fetch(anvil.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const { error } = (await response.json()) as { error?: { data?: string } }
  return abi.parseError(error?.data ?? '0x')?.name ?? `no error of the contract: ${JSON.stringify(error)}`
}

async function complete({ abi }: At, { anvil, bridge }: NativeBridgeEnd, completion: Completion): Promise<void> {
  const script = await Script.of(anvil, relayer)
  script.call(bridge, abi, 'completeBridgeTransfer', completion)
  await script.mine()
}

async function balance({ anvil, token }: NativeBridgeEnd, owner: string): Promise<bigint> {
  return BigInt(await anvil.rpc<string>('eth_call', [{ to: token, data: erc20.encodeFunctionData('balanceOf', [owner]) }, 'latest']))
}

async function timestamp({ anvil }: NativeBridgeEnd): Promise<number> {
  return Number((await anvil.rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false])).timestamp)
}

function deploy(anvil: Anvil, position: number, variant: NativeBridgeVariant): Promise<NativeBridgeEnd> {
  const account = (base: number) => devnetAccount(base + position)
  const accounts = { deployer: account(accountIndex.deployer), user: account(accountIndex.user) }
  return deployNativeBridge({ name: `chain-${position}`, anvil, ...accounts, relayers: [relayer.address] }, variant)
}

function columns(completions: readonly Completion[]): unknown[][] {
  return [0, 1, 2, 3, 4].map((column) => completions.map((one) => one[column]))
}
