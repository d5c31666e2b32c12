import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { concat, keccak256, solidityPacked, toBeHex, Wallet, zeroPadBytes, zeroPadValue } from 'ethers'
import { configSchema } from '../../../config/schema/schema.ts'
import { freshAddress, type DevnetAccount } from '../../../lab/devnet/chain/accounts.ts'
import { startDevnet, type Devnet } from '../../../lab/devnet/index.ts'
import { completionOf, nativeBridgeAbi, type Completion, type NativeBridgeEnd } from '../../../lab/devnet/native/native-bridge.ts'
import type { SentNativeTransfer } from '../../../lab/devnet/native/native-users.ts'
import type { NativeNetwork } from '../../../lab/devnet/native/native-network.ts'
import { until } from '../../../lab/devnet/until.ts'

describe('the native bridge of the devnet', () => {
  let devnet: Devnet
  let native: NativeNetwork
  let sent: SentNativeTransfer[]

  beforeAll(async () => {
    devnet = await startDevnet({ blockTimeSeconds: 0.2, native: 'fixed', batch: 20, inMemory: true, ui: false })
    if (!devnet.native) throw new Error('no native bridge')
    native = devnet.native
    const { ethereum, bsc } = native.users
    sent = (await Promise.all([ethereum.send([{ amount: 500n }, { amount: 600n }]), bsc.send([{ amount: 500n }])])).flat()
  })

  afterAll(() => devnet?.stop())

  const lane = (chain: string, index = 0): DevnetAccount => {
    const found = devnet.lanes.filter((one) => one.chain === chain)[index]
    if (!found) throw new Error(`no lane of ${chain}`)
    return found
  }

  test('the native bridge is in the config, both ways', () => {
    const { bridges, streams } = configSchema.parse(devnet.relayerConfig())
    const { ethereum, bsc } = native.ends
    const route = (source: NativeBridgeEnd, target: NativeBridgeEnd) => ({
      ...{ source: source.name, target: target.name, sourceContract: source.bridge, targetContract: target.bridge, batch: 20 },
    })
    expect(bridges['native-bridge']?.routes).toMatchObject([route(ethereum, bsc), route(bsc, ethereum)])
    expect(streams).toMatchObject({ auditMinutes: 0.1, checkpoints: { kind: 'directory' } })
  })

  test('users of the native bridge know what they sent', () => {
    expect(sent.map(({ source, target, nonce, amount }) => [source, target, nonce, amount])).toEqual([
      ['ethereum', 'bsc', 1n, 500n],
      ['ethereum', 'bsc', 2n, 600n],
      ['bsc', 'ethereum', 1n, 500n],
    ])
    expect(new Set(sent.map(({ id }) => id)).size).toBe(3)
  })

  test('the checker of native transfers finds missing and batched deliveries, and who delivered', async () => {
    expect(await devnet.check(sent)).toMatchObject({ transfers: 3, delivered: 0, lost: 3, foreignCompletions: 0 })
    const { ethereum, bsc } = native.ends
    await complete(bsc, lane('bsc'), sent.slice(0, 2).map(completion))
    const half = await devnet.check(sent)
    expect(half).toMatchObject({ transfers: 3, delivered: 2, lost: 1, duplicates: 0, wrongBalances: 0, wastedTransactions: 0 })
    expect(half.deliveredBy).toEqual({ [lane('bsc').address]: 2 })
    await complete(ethereum, lane('ethereum'), sent.slice(2).map(completion))
    const whole = await devnet.check(sent)
    expect(whole).toMatchObject({ delivered: 3, lost: 0, foreignCompletions: 0, wastedTransactions: 0, nonceHoles: 0 })
    expect(whole.nativeFindings.every(({ latencyMs }) => (latencyMs ?? -1) >= 0)).toBe(true)
    const [first] = sent as [SentNativeTransfer]
    expect(await devnet.check([{ ...first, amount: 501n }])).toMatchObject({ delivered: 0, lost: 1 })
    // The recipient's balance shows that only one of the two transfers arrived.
    const twice = [first, { ...first, nonce: 9n }]
    expect(await devnet.check(twice)).toMatchObject({ delivered: 0, wrongBalances: 1, lost: 1 })
  })

  test('the checker of native transfers finds a lost transfer that is missing from its list', async () => {
    const [first, second, third] = sent as [SentNativeTransfer, SentNativeTransfer, SentNativeTransfer]
    expect(await devnet.check([first])).toMatchObject({ transfers: 1, delivered: 1, lost: 0, duplicates: 0 })
    const [forgotten] = await native.users.bsc.send([{ amount: 3n }])
    expect(await devnet.check([first, second, third])).toMatchObject({ transfers: 3, delivered: 3, lost: 1, duplicates: 0 })
    await complete(native.ends.ethereum, lane('ethereum'), [completion(forgotten!)])
    expect(await devnet.check([first, second, third])).toMatchObject({ transfers: 3, delivered: 3, lost: 0, duplicates: 0 })
    sent.push(forgotten!)
  })

  test('the checker of native transfers finds a contract that completes twice, and one that lies', async () => {
    const { bsc } = native.ends
    const key = lane('bsc')
    const [twice, elsewhere, less, unpaid] = (await native.users.ethereum.send([21n, 22n, 23n, 24n].map((amount) => ({ amount })))) as [
      SentNativeTransfer,
      SentNativeTransfer,
      SentNativeTransfer,
      SentNativeTransfer,
    ]
    const all = [...sent, twice, elsewhere, less, unpaid]
    await complete(bsc, key, [completion(twice)])
    // The contract forgets the completion, so the transfer can be completed again.
    await bsc.anvil.rpc('anvil_setStorageAt', [bsc.bridge, await inboundSlot(bsc, twice), `0x${'0'.repeat(64)}`])
    await complete(bsc, key, [completion(twice)])
    const before = { transfers: all.length, delivered: sent.length }
    expect(await devnet.check(all)).toMatchObject({ ...before, lost: 3, duplicates: 1, wrongBalances: 1, foreignCompletions: 0 })
    // The checker must also judge transfers that are missing from its list.
    expect(await devnet.check(sent)).toMatchObject({ delivered: sent.length, lost: 3, duplicates: 1 })

    // Until the code is restored, the contract logs its input as events and pays nobody.
    const code = await bsc.anvil.rpc<string>('eth_getCode', [bsc.bridge, 'latest'])
    await bsc.anvil.rpc('anvil_setCode', [bsc.bridge, logsItsInput])
    const [id, initiator, recipient, amount, nonce] = completion(elsewhere)
    await claim(bsc, key, [id, initiator, freshAddress(), amount, nonce])
    const [lessId, lessInitiator, lessRecipient, , lessNonce] = completion(less)
    await claim(bsc, key, [lessId, lessInitiator, lessRecipient, 22n, lessNonce])
    await claim(bsc, key, completion(unpaid))
    await bsc.anvil.rpc('anvil_setCode', [bsc.bridge, code])
    expect(recipient).toBe(elsewhere.recipient)
    // A completion with a wrong recipient or amount counts twice: as a lost transfer and as a foreign completion.
    expect(await devnet.check(all)).toMatchObject({ ...before, lost: 2, duplicates: 1, wrongBalances: 2, foreignCompletions: 2 })
    await complete(bsc, key, [completion(elsewhere), completion(less)])
    expect(await devnet.check(all)).toMatchObject({ ...before, delivered: sent.length + 2, lost: 0, foreignCompletions: 2 })
  })

  test('the checker of native transfers finds completions that nobody initiated', async () => {
    const { ends } = native
    const made = { initiator: freshAddress(), recipient: freshAddress(), amount: 7n, nonce: 77n }
    const id = keccak256(
      solidityPacked(
        ['bytes32', 'address', 'uint256', 'uint256'],
        [zeroPadBytes(made.initiator, 32), made.recipient, made.amount, made.nonce],
      ),
    )
    const before = await devnet.check(sent)
    await complete(ends.bsc, lane('bsc'), [[id, zeroPadBytes(made.initiator, 32), made.recipient, made.amount, made.nonce]])
    const after = await devnet.check(sent)
    expect(after.foreignCompletions - before.foreignCompletions).toBe(1)
    expect(after.wastedTransactions - before.wastedTransactions).toBe(1)
  })
})

function completion(sent: SentNativeTransfer): Completion {
  return completionOf({ ...sent, recipient: `0x${sent.recipient.slice(2).padStart(64, '0')}` })
}

/** Runtime code that logs its input: 64 bytes of data, then four topics. */
const logsItsInput = '0x6040600060003760a03560803560603560403560406000a400'

async function claim(end: NativeBridgeEnd, key: DevnetAccount, [id, initiator, recipient, amount, nonce]: Completion) {
  const topic = (await nativeBridgeAbi()).getEvent('BridgeTransferCompleted')!.topicHash
  await send(end, key, concat([toBeHex(amount, 32), toBeHex(nonce, 32), topic, id, initiator, zeroPadValue(recipient, 32)]))
}

async function inboundSlot({ anvil, bridge }: NativeBridgeEnd, { id, nonce }: SentNativeTransfer): Promise<string> {
  const slots = Array.from({ length: 16 }, (_, slot) => keccak256(concat([id, toBeHex(slot, 32)])))
  const values = await Promise.all(slots.map((slot) => anvil.rpc<string>('eth_getStorageAt', [bridge, slot, 'latest'])))
  const found = slots[values.findIndex((value) => BigInt(value) === nonce)]
  if (found === undefined) throw new Error('The contract keeps its completions elsewhere')
  return found
}

async function complete(end: NativeBridgeEnd, key: DevnetAccount, completions: readonly Completion[]) {
  const abi = await nativeBridgeAbi()
  const columns = [0, 1, 2, 3, 4].map((column) => completions.map((one) => one[column]))
  await send(end, key, abi.encodeFunctionData('batchCompleteBridgeTransfer', columns))
}

async function send({ anvil, bridge }: NativeBridgeEnd, { address, privateKey }: DevnetAccount, data: string) {
  const nonce = Number(await anvil.rpc<string>('eth_getTransactionCount', [address, 'latest']))
  const fees = { type: 2, gasLimit: 1_000_000n, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n }
  const raw = await new Wallet(privateKey).signTransaction({ ...fees, to: bridge, data, nonce, chainId: anvil.chainId })
  const hash = await anvil.rpc<string>('eth_sendRawTransaction', [raw])
  const receipt = await until(
    () => anvil.rpc<{ status: string } | null>('eth_getTransactionReceipt', [hash]).then((one) => one ?? undefined),
    {
      timeoutMs: 60_000,
      what: 'the transaction to be mined',
    },
  )
  expect(receipt.status).toBe('0x1')
}
