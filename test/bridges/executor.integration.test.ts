import { toChain } from '@wormhole-foundation/sdk-base'
import { fetchCapabilities, fetchQuote, fetchStatus } from '@wormhole-foundation/sdk-definitions'
import { concat, dataSlice, getBytes, toBeHex } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readRequest, type RequestForExecution, requestTopics } from '../../bridges/executor/event.ts'
import { judge } from '../../bridges/executor/judge.ts'
import { costOf, isSignedBy } from '../../bridges/executor/quote.ts'
import { decodeRequest } from '../../bridges/executor/requests.ts'
import type { RequestsOf } from '../../bridges/executor/status.ts'
import { createConfiguredChain, type ConfiguredChain } from '../../chains/registry.ts'
import { checkQuoter, contractFinding } from '../../cli/doctor/executor.ts'
import { executorOf } from '../../config/executor.ts'
import { type Config, configSchema, type SignerConfig } from '../../config/schema/schema.ts'
import { noSettings, type Settings } from '../../domain/settings/settings.ts'
import { devnetAccount, devnetGuardians, freshAddress } from '../../lab/devnet/chain/accounts.ts'
import { Script, type Mined } from '../../lab/devnet/chain/contracts.ts'
import { compiledArtifact } from '../../lab/devnet/chain/solidity.ts'
import { deployExecutors, devnetQuoter, executorConfig, type ExecutorEnd, quoterVariable } from '../../lab/devnet/executor/deploy.ts'
import { instructionsOf, requestDelivery } from '../../lab/devnet/executor/users.ts'
import { freePort } from '../../lab/devnet/ports.ts'
import { startWeb3Signer } from '../../lab/devnet/signing/web3signer.ts'
import { signVaa, toUniversal } from '../../lab/devnet/wormhole/vaa.ts'
import { chainPlan, deployWormhole, published } from '../../lab/devnet/wormhole/wormhole.ts'
import { silentLogger } from '../../observability/logger.ts'
import { openProvider } from '../../workers/roles/executor.ts'
import { openApi, type OpenApi } from '../api/setting.ts'
import { startManualAnvil } from '../helpers/evm.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { codeOfAsync } from '../helpers/refusals.ts'

const dataFolder = temporaryFolder()
let anvils: Awaited<ReturnType<typeof startManualAnvil>>[]
let ends: [ExecutorEnd, ExecutorEnd]
let chains: Map<string, ConfiguredChain>
let config: Config
let api: OpenApi
let url: string

beforeAll(async () => {
  anvils = await Promise.all([startManualAnvil(), startManualAnvil()])
  const [first, second] = anvils
  const plans = [chainPlan('ethereum', 2, first!, 0), chainPlan('bsc', 4, second!, 1)] as const
  ends = await deployExecutors(await deployWormhole(plans, { guardians: devnetGuardians(1) }))
  process.env[quoterVariable] = devnetQuoter.privateKey
  config = configSchema.parse({
    dataFolder,
    temporal: { address: '127.0.0.1:1' },
    chains: Object.fromEntries(
      ends.map(({ chain: { name, wormholeChainId, anvil, core, tokenBridge } }) => [
        name,
        {
          family: 'evm',
          networkId: anvil.chainId,
          wormholeChainId,
          contracts: { core, tokenBridge },
          nodes: [{ url: anvil.url }],
          blockTimeMs: 200,
        },
      ]),
    ),
    bridges: { executor: executorConfig(ends) },
  })
  chains = new Map(Object.entries(config.chains).map(([name, chain]) => [name, createConfiguredChain(name, chain)]))
  await Promise.all([...chains.values()].map((chain) => chain.connect()))
  const executor = await open(config)
  api = await openApi(config, silentLogger(), { executor, requestsOf })
  const port = await freePort()
  await api.bare.listen({ host: '127.0.0.1', port })
  url = `http://127.0.0.1:${port}/v0`
})
afterAll(async () => {
  await api?.close()
  for (const chain of chains?.values() ?? []) chain.close()
  await Promise.all(anvils?.map((anvil) => anvil.stop()) ?? [])
})

const open = (by: Config, settings: Settings = noSettings) =>
  openProvider({ config: by, network: { chains, served: [...chains.keys()] }, logger: silentLogger(), settings: () => settings })
const terms = () => executorOf(config)!
const requestIn = ({ logs }: Mined, { executor }: ExecutorEnd): RequestForExecution => {
  const [topic, named] = requestTopics(devnetQuoter.address)
  const log = logs.find(({ address, topics }) => address.toLowerCase() === executor && topics[0] === topic && topics[1] === named)
  return readRequest({ name: 'ethereum' }, log!)
}
const judged = (transaction: Mined, late = 0) =>
  judge(requestIn(transaction, ends[0]), 2, { requestedAt: transaction.timestamp, now: transaction.timestamp + late }, terms())

const requestsOf: RequestsOf = async (txHash, chain) => {
  const end = ends.find(({ chain: { wormholeChainId } }) => wormholeChainId === chain)
  const receipt = end && (await chains.get(end.chain.name)!.receipt(txHash))
  if (!receipt) return []
  const { timestamp } = (await chains.get(end.chain.name)!.block(receipt.block.height, 'latest'))!
  return receipt.logs.flatMap((log, logIndex) => {
    if (log.address.toLowerCase() !== end.executor) return []
    const request = readRequest({ name: end.chain.name }, log)
    const judgement = judge(request, end.chain.wormholeChainId, { requestedAt: timestamp, now: timestamp }, terms())
    const refused = judgement.kind === 'refused' && { status: judgement.status, failureCause: judgement.reason }
    const place = { chain: end.chain.wormholeChainId, txHash, logIndex }
    return [
      { request, ...place, requestedAt: timestamp, seenAt: timestamp * 1_000, status: 'pending' as const, ...refused, deliveries: [] },
    ]
  })
}
const balance = async (end: ExecutorEnd, address: string) =>
  BigInt(await end.chain.anvil.rpc<string>('eth_getBalance', [address, 'latest']))

describe('the Executor of the devnet', () => {
  test('the Executor of the devnet has the function, event and errors of the contract on the mainnets', async () => {
    const { abi } = await compiledArtifact('Executor')
    expect(abi.getFunction('requestExecution')?.selector).toBe('0xc513d437')
    expect(abi.getEvent('RequestForExecution')?.topicHash).toBe(requestTopics(devnetQuoter.address)[0])
    const selectors = ['QuoteSrcChainMismatch', 'QuoteDstChainMismatch', 'QuoteExpired', 'NotAnEvmAddress'].map(
      (name) => abi.getError(name)?.selector,
    )
    expect(selectors).toEqual(['0x513755b8', '0xcfb80e9f', '0x1f99570c', '0x33b960d0'])
    expect((await compiledArtifact('MessageReceiver')).abi.getFunction('executeVAAv1')?.selector).toBe('0x53c6f0dc')
  })

  test.each<[string, { source?: number; target?: number; expiry?: bigint; payee?: string }, string | undefined]>([
    ['another source', { source: 5 }, '0x513755b8'],
    ['another destination', { target: 5 }, '0xcfb80e9f'],
    ['an expired quote', { expiry: 1n }, '0x1f99570c'],
    ['a payee of another family', { payee: 'ff'.repeat(32) }, '0x33b960d0'],
    ['nothing wrong', {}, undefined],
  ])(
    'the Executor of the devnet checks the head of a quote: %s',
    async (_, { source = 2, target = 4, expiry = 2n ** 63n, payee = '00'.repeat(32) }, error) => {
      const { abi } = await compiledArtifact('Executor')
      const head = concat([
        Buffer.from('EQ01'),
        devnetQuoter.address,
        `0x${payee}`,
        toBeHex(source, 2),
        toBeHex(target, 2),
        toBeHex(expiry, 8),
      ])
      const data = abi.encodeFunctionData('requestExecution', [4, `0x${'00'.repeat(32)}`, devnetQuoter.address, head, '0x', '0x'])
      const { executor: to, user, chain } = ends[0]
      const call = fetch(chain.anvil.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_call', params: [{ from: user.address, to, data }, 'latest'] }),
      })
      const { error: failure } = (await (await call).json()) as { error?: { data: string } }
      expect(failure && dataSlice(failure.data, 0, 4)).toBe(error)
    },
  )
})

describe('a provider on real chains, asked by the SDK of integrators', () => {
  test('the provider names the requests that it delivers, for each chain', async () => {
    const caps = { requestPrefixes: ['ERV1'], gasDropOffLimit: String(10n ** 17n), maxGasLimit: '1000000', maxMsgValue: String(10n ** 18n) }
    expect(await fetchCapabilities(url)).toEqual({ '2': caps, '4': caps })
  })

  test('the provider is paid its estimate for a message in the same transaction, and accepts the request', async () => {
    const [from, to] = ends
    const drop = { amount: 5n, recipient: freshAddress() }
    const sent = await requestDelivery(url, from, to, { payload: '0xbeef', gasLimit: 300_000n, msgValue: 7n, dropOff: drop })
    const judgement = judged(sent.transaction)
    const [message] = published(sent.transaction, from.chain.core, 2)
    expect(judgement).toMatchObject({
      kind: 'accepted',
      wanted: { gasLimit: 300_000n, msgValue: 7n, dropOff: 5n, recipient: toUniversal(drop.recipient) },
    })
    const asked = { prefix: 'ERV1', chain: 2, emitter: toUniversal(from.sender), sequence: String(message?.sequence) }
    expect(decodeRequest(requestIn(sent.transaction, from).request)).toEqual(asked)
    expect(await balance(from, from.payee)).toBe(sent.estimatedCost)
    const { quote, wanted } = judgement as Extract<typeof judgement, { kind: 'accepted' }>
    expect(costOf(quote, wanted)).toBe(sent.estimatedCost)
    expect(quote).toMatchObject({ quoter: devnetQuoter.address, payee: toUniversal(from.payee), sourcePrice: 30_000_000_000_000n })
    // The price contains a margin of 10 percent.
    expect(quote.targetPrice).toBe(33_000_000_000_000n)
    expect(Number(quote.expiry) - Date.now() / 1_000).toBeGreaterThan(3_500)
    expect(requestIn(sent.transaction, from)).toMatchObject({ targetAddress: toUniversal(to.receiver), refundAddress: from.user.address })

    const { bytes } = signVaa(message!, devnetGuardians(1))
    const script = await Script.of(to.chain.anvil, to.user)
    const { abi } = await compiledArtifact('MessageReceiver')
    script.call(to.receiver, abi, 'executeVAAv1', [bytes], 7n)
    await script.mine()
    expect(await balance(to, to.receiver)).toBe(7n)
  })

  test('the provider shares a signed quote among callers, so that strangers cost few signatures', async () => {
    const ask = (gasLimit: bigint) => fetchQuote(url, toChain(4), toChain(2), instructionsOf({ gasLimit }))
    const [small, large] = await Promise.all([ask(250_000n), ask(500_000n)])
    expect(small.signedQuote).toBe(large.signedQuote)
    expect(BigInt(large.estimatedCost!)).toBeGreaterThanOrEqual(2n * BigInt(small.estimatedCost!) - 1n)
  })

  test('the provider notices a payment of one wei too few, which the contract takes', async () => {
    const { transaction } = await requestDelivery(url, ...ends, { payload: '0x04', pay: (estimate) => estimate - 1n })
    expect(judged(transaction)).toMatchObject({ code: 'EXECUTOR_UNDERPAID', reason: expect.stringContaining('1 are missing') })
  })

  test('Portage does not deliver for a forged quote, although the contract accepts it', async () => {
    const [from, to] = ends
    const { signedQuote, instructions } = await requestDelivery(url, from, to, { payload: '0x05' })
    const cheap = getBytes(signedQuote)
    // The forged quote names the payer as its payee, and its gas price is zero.
    cheap.set(getBytes(from.user.address), 36)
    cheap.fill(0, 68, 84)
    const script = await Script.of(from.chain.anvil, from.user)
    const args = ['0x06', 4, `0x${toUniversal(to.receiver)}`, cheap, instructions]
    script.call(from.sender, (await compiledArtifact('MessageSender')).abi, 'send', args, 1n)
    const [transaction] = await script.mine()
    expect(judged(transaction!)).toMatchObject({ kind: 'refused', code: 'EXECUTOR_QUOTE_UNKNOWN', status: 'unsupported' })
  })

  test('the provider answers with the status of the requests of a transaction', async () => {
    const [from, to] = ends
    for (const [missing, status] of [[0n, 'pending'] as const, [2n, 'underpaid'] as const]) {
      const pay = (estimate: bigint) => estimate - missing
      const { transaction, signedQuote, estimatedCost } = await requestDelivery(url, from, to, { payload: '0x08', pay })
      const rows = await fetchStatus(url, transaction.transactionHash, toChain(2))
      expect(rows).toMatchObject([
        {
          status,
          ...(status === 'underpaid' && { failureCause: expect.stringContaining('2 are missing') }),
          ...{ chainId: 2, txHash: transaction.transactionHash, estimatedCost: String(estimatedCost), txs: [] },
          instruction: { request: { prefix: 'ERV1', chain: 2, address: `0x${toUniversal(from.sender)}` } },
          requestForExecution: {
            ...{ amtPaid: String(pay(estimatedCost)), dstChain: 4, signedQuoteBytes: signedQuote },
            timestamp: new Date(transaction.timestamp * 1_000).toISOString(),
          },
          signedQuote: {
            quote: { prefix: 'EQ01', quoterAddress: devnetQuoter.address, srcChain: 2, dstChain: 4, srcPrice: '30000000000000' },
          },
        },
      ])
    }
    expect(await fetchStatus(url, `0x${'12'.repeat(32)}`, toChain(2))).toEqual([])
  })
})

describe('a process with the key of a quoter', () => {
  const withQuoter = (signer: SignerConfig | undefined, address = devnetQuoter.address): Config => {
    const executor = config.bridges.executor!
    return { ...config, bridges: { executor: { ...executor, quoter: { address, signer } } } }
  }
  const ask = { source: 2, target: 4 }

  test('a provider gives no quotes without a signer, and does not start with the key of another address', async () => {
    expect(await open(withQuoter(undefined))).toBeUndefined()
    const foreign = withQuoter({ kind: 'environment', variable: quoterVariable }, devnetAccount(3).address)
    expect(await codeOfAsync(() => open(foreign))).toBe('SIGNER_UNAVAILABLE')
  })

  test('a provider starts without its signing service, and gives quotes when the service answers', async () => {
    const port = await freePort()
    const provider = await open(withQuoter({ kind: 'remote', url: `http://127.0.0.1:${port}`, timeoutMs: 15_000 }))
    expect(await codeOfAsync(() => provider!.quote(ask))).toBe('SIGNER_OFFLINE')
    const service = await startWeb3Signer([devnetQuoter], port)
    try {
      // A failed quote is kept for a second and given to all callers, so this test polls.
      await expect
        .poll(() =>
          provider!.quote(ask).then(
            ({ signed }) => isSignedBy(devnetQuoter.address, getBytes(signed)),
            () => false,
          ),
        )
        .toBe(true)
      expect(service.signatures).toBe(1)
    } finally {
      await service.stop()
    }
  })

  test('a provider gives no quotes for a route that operators have halted, and gives others', async () => {
    const halt = { scope: { bridge: 'executor', targetChain: 'bsc' }, by: 'me', reason: 'a test', at: 1 }
    const provider = await open(config, { ...noSettings, halts: [halt] })
    expect(await codeOfAsync(() => provider!.quote(ask))).toBe('HALTED')
    expect(isSignedBy(devnetQuoter.address, getBytes((await provider!.quote({ source: 4, target: 2 })).signed))).toBe(true)
  })
})

describe('the doctor', () => {
  test("the doctor makes the quoter's key sign, and asks each Executor for its chain", async () => {
    expect(await checkQuoter({ quoter: devnetQuoter.address, signer: { kind: 'environment', variable: quoterVariable } })).toMatchObject({
      status: 'warn',
    })
    expect(await checkQuoter({ quoter: devnetQuoter.address, signer: undefined })).toBe('not on this machine')
    const [{ executor, sender, chain }] = ends
    const reader = chains.get(chain.name)!
    expect(await contractFinding(reader, executor, 2)).toBe(executor)
    expect(await contractFinding(reader, executor, 4)).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('belongs to Wormhole chain 2, not 4'),
    })
    expect(await contractFinding(reader, sender, 2)).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('is not an Executor'),
    })
  })
})
