import { concat, decodeBase64, encodeBase64, getBytes, keccak256, SigningKey } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeQuote } from '../../bridges/executor/quote.ts'
import { readMessage, writeMessage } from '../../bridges/executor/message.ts'
import { createBridges } from '../../bridges/registry.ts'
import type { Bridge, Endpoint, PlacedSource } from '../../bridges/port.ts'
import type { EvmChain } from '../../chains/evm/index.ts'
import { targetChecks } from '../../cli/doctor/executor.ts'
import { executorOf } from '../../config/executor.ts'
import { type Config, configSchema } from '../../config/schema/schema.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { createIris } from '../../intake/submit/iris.ts'
import { type CctpNetwork, startCctpNetwork } from '../../lab/devnet/cctp/network.ts'
import { accountIndex, devnetAccount, devnetGuardians, freshAddress } from '../../lab/devnet/chain/accounts.ts'
import { type Anvil, startAnvil } from '../../lab/devnet/chain/anvil.ts'
import { Script } from '../../lab/devnet/chain/contracts.ts'
import { createSender } from '../../lab/devnet/chain/sender.ts'
import { devnetQuoter } from '../../lab/devnet/executor/deploy.ts'
import { type ExecutorNetwork, startExecutorNetwork } from '../../lab/devnet/executor/network.ts'
import { paidCall, type PaidKind } from '../../lab/devnet/executor/paid.ts'
import { instructionsOf } from '../../lab/devnet/executor/users.ts'
import { deployNtt, type NttNetwork } from '../../lab/devnet/ntt/ntt.ts'
import { nttEffects } from '../../lab/devnet/ntt/ntt-effects.ts'
import { until } from '../../lab/devnet/until.ts'
import { type Guardian, startGuardian } from '../../lab/devnet/wormhole/guardian.ts'
import { toUniversal } from '../../lab/devnet/wormhole/vaa.ts'
import { chainPlan, deployWormhole } from '../../lab/devnet/wormhole/wormhole.ts'
import { testChain } from '../helpers/evm.ts'
import { altered } from '../helpers/vaa.ts'

const rateLimitSeconds = 1_000
const guardians = devnetGuardians(3)
const stranger = devnetAccount(accountIndex.outsider)
const dropOff = 5n

describe('Requests that pay for transfers of NTT and CCTP, on the real contracts', () => {
  const nodes: Anvil[] = []
  const chains = new Map<string, EvmChain>()
  let guardian: Guardian
  let cctp: CctpNetwork
  let ntt: NttNetwork
  let network: ExecutorNetwork
  let config: Config
  let bridge: Bridge
  let endpoint: Endpoint

  beforeAll(async () => {
    nodes.push(...(await Promise.all([1337, 1397].map((chainId) => startAnvil({ chainId, blockTimeSeconds: 0.2 })))))
    const plans = [chainPlan('ethereum', 2, nodes[0]!, 0), chainPlan('bsc', 4, nodes[1]!, 1)] as const
    const [ethereum, bsc] = await deployWormhole(plans, { guardians })
    guardian = await startGuardian([ethereum, bsc], { guardians })
    cctp = await startCctpNetwork({ ethereum, bsc }, { paid: true })
    ntt = await deployNtt({ ethereum, bsc }, { transceivers: 2, rateLimitSeconds, inboundLimit: 1_000n })
    network = await startExecutorNetwork({ ethereum, bsc }, { ntt, cctp })
    for (const [index, name] of ['ethereum', 'bsc'].entries()) {
      const chain = testChain(nodes[index]!.url, { name, networkId: nodes[index]!.chainId })
      await chain.connect()
      chains.set(name, chain)
    }
    const peers = Object.values(ntt.ends).map(({ name, manager, transceivers }) => [name, { manager, transceivers: [...transceivers] }])
    config = configSchema.parse({
      dataFolder: '/nowhere',
      temporal: { address: '127.0.0.1:1' },
      chains: Object.fromEntries(
        [ethereum, bsc].map(({ name, wormholeChainId, anvil: { chainId, url }, core, tokenBridge }) => [
          name,
          { family: 'evm', networkId: chainId, wormholeChainId, contracts: { core, tokenBridge }, nodes: [{ url }], blockTimeMs: 200 },
        ]),
      ),
      bridges: {
        'wormhole-token-bridge': {},
        ntt: { tokens: [{ peers: Object.fromEntries(peers) }] },
        ...{ cctp: cctp.config, executor: network.config },
      },
    })
    bridge = createBridges(config, chains, chains.keys(), {
      async findVaa({ chain, emitter, sequence }, verify) {
        const { bytes: vaa } = await guardian.waitFor(chain, emitter, BigInt(sequence))
        await verify(vaa)
        return { kind: 'found', vaa }
      },
      attestations: createIris({ urls: [cctp.iris.url], perSecond: 200 }),
    }).get('executor')!
    endpoint = bridge.endpoints.get('bsc')!
  })

  afterAll(async () => {
    for (const chain of chains.values()) chain.close()
    await cctp?.stop()
    await guardian?.stop()
    await Promise.all(nodes.map((node) => node.stop()))
  })

  const gasPrice = 2n * 10n ** 9n
  const gasLimit = 700_000n
  function signedQuote(): string {
    const { payee } = network.ends.ethereum
    const bytes = encodeQuote({
      ...{ quoter: devnetQuoter.address, payee: toUniversal(payee), sourceChain: 2, targetChain: 4, expiry: 2n ** 40n },
      ...{ baseFee: 0n, gasPrice, sourcePrice: 1n, targetPrice: 1n },
    })
    return concat([bytes, new SigningKey(devnetQuoter.privateKey).sign(keccak256(bytes)).serialized])
  }

  interface Wish {
    readonly amount?: bigint
    readonly recipient?: string
    readonly drop?: boolean
    readonly missing?: bigint
    readonly msgValue?: bigint
  }

  async function request(kind: PaidKind, wish: Wish = {}): Promise<readonly Transfer[]> {
    const { amount = 1_000n, recipient = freshAddress(), drop = false, missing = 0n, msgValue = 0n } = wish
    const { paid, ends } = network
    const relayInstructions = instructionsOf({ gasLimit, msgValue, ...(drop && { dropOff: { amount: dropOff, recipient } }) })
    const payment = { dstChain: 4, signedQuote: signedQuote(), relayInstructions }
    const data = await paidCall(paid.ethereum, paid.bsc, { kind, amount, recipient }, payment)
    const value = gasLimit * gasPrice + (drop ? dropOff : 0n) + msgValue - missing
    const [mined] = await createSender(nodes[0]!, ends.ethereum.user, 900_000n)([{ to: paid.ethereum.sender, data, value }])
    const { blockNumber: height } = mined!
    const isFinal = () => (chains.get('ethereum')!.heads.current?.finalized ?? 0) >= height
    await until(async () => isFinal(), { timeoutMs: 20_000, everyMs: 50, what: 'the request to be final' })
    const source = bridge.sources.find(({ sourceChain }) => sourceChain === 'ethereum') as PlacedSource
    return (await source.initiated({ fromBlock: height, toBlock: height })).map(({ transfer }) => transfer)
  }

  async function attested(transfer: Transfer): Promise<Transfer> {
    const answer = await until(
      async () => {
        const one = await endpoint.attest!(transfer)
        return one?.kind === 'attested' ? one : undefined
      },
      { timeoutMs: 20_000, everyMs: 50, what: 'the message to be attested' },
    )
    return { ...transfer, message: encodeBase64(answer.message) }
  }

  const planned = async (transfer: Transfer, stage?: string) => endpoint.delivery(transfer, stage).call()
  const perform = ({ to, data, value }: Intent) => createSender(nodes[1]!, stranger, 1_000_000n)([{ to, data, value: BigInt(value) }])
  const refused = (call: Intent) => expect(endpoint.proveCall(call)).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
  const coinsOf = async (address: string) => BigInt(await nodes[1]!.rpc<string>('eth_getBalance', [address, 'latest']))

  async function deliver(transfer: Transfer): Promise<string[]> {
    const stages: string[] = []
    while (!(await endpoint.delivered(transfer, 'latest'))) {
      const next = await endpoint.stages!.next(transfer)
      if (next && next.kind !== 'stage') throw new Error(next.reason)
      const call = await planned(transfer, next?.stage)
      await expect(endpoint.proveCall(call)).resolves.toContainEqual(expect.objectContaining({ sourceChain: 'ethereum' }))
      await perform(call)
      stages.push(next?.stage ?? 'call')
      if (next) expect(await endpoint.stages!.passed(transfer, next.stage, 'latest')).toBe(true)
    }
    return stages
  }

  test('the doctor finds each contract of the target, and says which is not there or is another', async () => {
    const target = executorOf(config)!.chains.get(4)!
    const { receiver, record, dropOff, sender } = network.ends.bsc
    const { dropOffs } = network.paid.bsc
    const check = async (changes: Partial<typeof target>) =>
      Promise.all(
        targetChecks({ ...target, ...changes }, config).map(async ([name, look]) => [name, await look(chains.get('bsc')!)] as const),
      )
    expect(await check({ recordContract: record })).toEqual([
      [`receiver ${receiver}`, receiver],
      ['recordContract', record],
      ['dropOffContract', dropOff],
      ['nttDropOffContract', dropOff],
      ['cctpV1DropOffContract', dropOffs!.v1],
      ['cctpV2DropOffContract', dropOffs!.v2],
    ])
    const statuses = async (contracts: Parameters<typeof check>[0]) => (await check(contracts)).map(([, finding]) => Object(finding).status)
    const others = { ERV1: sender, ERN1: sender, ERC1: dropOffs!.v2, ERC2: sender }
    const wrong = { receivers: { [stranger.address]: target.receivers[receiver]! }, recordContract: sender, dropOffContracts: others }
    expect(await statuses(wrong)).toEqual(Array(6).fill('fail'))
    const absent = { ERV1: stranger.address, ERN1: stranger.address, ERC1: stranger.address, ERC2: stranger.address }
    expect(await statuses({ recordContract: stranger.address, dropOffContracts: absent })).toEqual([undefined, ...Array(5).fill('fail')])
  })

  test('a transfer of NTT is delivered by the message of each transceiver, and its drop-off is paid once', async () => {
    const recipient = freshAddress()
    const [logged] = await request('ntt', { recipient, drop: true })
    expect(await endpoint.delivered(logged!, 'latest')).toBe(false)
    const transfer = await attested(logged!)
    expect(transfer).toMatchObject({ bridge: 'executor', sourceChain: 'ethereum', targetChain: 'bsc', digest: logged!.digest })
    expect(await endpoint.validate(transfer)).toEqual({ kind: 'valid' })
    const token = `4/${toUniversal(ntt.ends.bsc.manager)}`
    expect(bridge.content(decodeBase64(transfer.message))).toMatchObject({ recipient, token, amount: '1000' })
    expect(endpoint.delivery(transfer, 'receive')).toMatchObject({ gasAtMost: gasLimit, parties: { recipient, bridge: 'executor' } })
    expect(await deliver(transfer)).toEqual(['receive', 'receive 2'])
    expect([await nttEffects(ntt.ends.bsc).balanceOf(recipient), await coinsOf(recipient)]).toEqual([10_000n, dropOff])
    expect(await endpoint.delivered(logged!, 'latest')).toBe(true)
  })

  test('a transfer of NTT above the limit is paid once the queue opens', async () => {
    const recipient = freshAddress()
    const [logged] = await request('ntt', { recipient, amount: 1_001n * 10n ** 8n })
    const transfer = await attested(logged!)
    await expect(deliver(transfer)).rejects.toThrow('in the queue')
    expect(await endpoint.delivered(transfer, 'latest')).toBe(false)
    const early = await planned(transfer, 'complete')
    await refused(early)
    await nodes[1]!.rpc('evm_increaseTime', [rateLimitSeconds])
    await nodes[1]!.rpc('evm_mine')
    const isDue = async () => (await endpoint.stages!.next(transfer))?.kind === 'stage'
    await until(isDue, { timeoutMs: 20_000, everyMs: 100, what: 'the queue to open' })
    expect(await deliver(transfer)).toEqual(['complete'])
    expect(await nttEffects(ntt.ends.bsc).balanceOf(recipient)).toBe(1_001n * 10n ** 9n)
  })

  test.each(['burnV1', 'burnV2'] as const)('a %s is delivered with its drop-off by one call', async (kind) => {
    const recipient = freshAddress()
    const [logged] = await request(kind, { recipient, drop: true })
    const transfer = await attested(logged!)
    expect(await endpoint.validate(transfer)).toEqual({ kind: 'valid' })
    expect(await deliver(transfer)).toEqual(['call'])
    expect(await coinsOf(recipient)).toBe(dropOff)
    await expect(endpoint.delivered(logged!, 'latest')).resolves.toBe(true)
    await refused(await planned(transfer))
  })

  test('requests that are underpaid, or ask for coins that no contract takes, start no transfer', async () => {
    for (const kind of ['ntt', 'burnV1', 'burnV2'] as const) {
      expect(await request(kind, { missing: 1n })).toEqual([])
      expect(await request(kind, { msgValue: 1n })).toEqual([])
    }
  })

  test('a request whose transaction has no such transfer is declined', async () => {
    const script = await Script.of(nodes[0]!, network.ends.ethereum.user)
    const { ends } = network
    const abi = (await import('../../lab/devnet/chain/solidity.ts')).compiledArtifact('Executor')
    const manager = `0x${toUniversal(ntt.ends.ethereum.manager)}`
    const asked = [
      concat(['0x45524e31', '0x0002', manager, `0x${'07'.repeat(32)}`]),
      '0x4552433201',
      concat(['0x45524331', `0x${'00'.repeat(12)}`]),
    ]
    for (const bytes of asked) {
      const args = [4, manager, stranger.address, signedQuote(), bytes, instructionsOf({ gasLimit })]
      script.call(ends.ethereum.executor, (await abi).abi, 'requestExecution', args, gasLimit * gasPrice)
    }
    const mined = await script.mine()
    const height = Math.max(...mined.map(({ blockNumber }) => blockNumber))
    const isFinal = () => (chains.get('ethereum')!.heads.current?.finalized ?? 0) >= height
    await until(async () => isFinal(), { timeoutMs: 20_000, everyMs: 50, what: 'the requests to be final' })
    const source = bridge.sources.find(({ sourceChain }) => sourceChain === 'ethereum') as PlacedSource
    const found = await source.initiated({ fromBlock: mined[0]!.blockNumber, toBlock: height })
    expect(found).toHaveLength(asked.length)
    for (const { transfer } of found) {
      expect(await endpoint.attest!(transfer)).toBeUndefined()
      expect(await endpoint.validate(transfer)).toMatchObject({ kind: 'declined', code: 'EXECUTOR_UNSUPPORTED' })
    }
  })

  describe.each(['ntt', 'burnV1', 'burnV2'] as const)('At the key, a call for %s', (kind) => {
    let transfer: Transfer
    let other: Transfer
    const stage = kind === 'ntt' ? 'receive' : undefined
    const withMessages = (attestedMessages: readonly Uint8Array[]): Transfer => {
      const message = writeMessage({ ...readMessage(decodeBase64(transfer.message)), attested: attestedMessages })
      return { ...transfer, message: encodeBase64(message) }
    }
    const messagesOf = (one: Transfer) => readMessage(decodeBase64(one.message)).attested

    beforeAll(async () => {
      const logged = await request(kind)
      transfer = await attested(logged[0]!)
      other = await attested((await request(kind))[0]!)
    })

    test('a key signs the call for a paid transfer as it was planned, and in no other form', async () => {
      const call = await planned(transfer, stage)
      await expect(endpoint.proveCall(call)).resolves.toContainEqual({ bridge: kind === 'ntt' ? 'ntt' : 'cctp', sourceChain: 'ethereum' })
      const changes: readonly Partial<Intent>[] = [
        { data: `0x12345678${call.data.slice(10)}` },
        { to: network.ends.bsc.receiver },
        { data: `${call.data}00` },
        { value: '1' },
      ]
      for (const change of changes) await refused({ ...call, ...change })
    })

    test('a key does not sign the call for a paid transfer for the message of another request', async () => {
      await refused(await planned(withMessages(messagesOf(other)), stage))
      expect(await endpoint.validate(withMessages(messagesOf(other)))).toMatchObject({ kind: 'declined' })
    })

    test('a key does not sign the call for a paid transfer for a changed or foreign message', async () => {
      const [own] = messagesOf(transfer)
      const change = (at: number) => altered(own!, at, (own![at]! + 1) % 256)
      // The first change alters a signature, and the second alters the amount or the recipient.
      for (const forged of [change(kind === 'ntt' ? 20 : 60), change(own!.length - 40)]) {
        const call = planned(withMessages([forged, ...messagesOf(transfer).slice(1)]), stage)
        const outcome = call
          .then((one) => endpoint.proveCall(one))
          .then(
            () => 'signed',
            ({ code }: { code: string }) => code,
          )
        expect(['CALL_UNJUSTIFIED', 'PAYLOAD_KIND', 'PAYLOAD_LENGTH', 'CCTP_MESSAGE', 'VAA_SIGNATURE_ORDER']).toContain(await outcome)
      }
    })

    test('a key does not sign the call for a paid transfer for a request that nobody logged', async () => {
      const message = readMessage(decodeBase64(transfer.message))
      const invented = writeMessage({ ...message, request: { ...message.request, refundAddress: stranger.address } })
      await refused(await planned({ ...transfer, message: encodeBase64(invented) }, stage))
      const dear = {
        ...message.request,
        amountPaid: message.request.amountPaid + 1n,
        instructions: getBytes(instructionsOf({ gasLimit: 100_000n })),
      }
      await refused(await planned({ ...transfer, message: encodeBase64(writeMessage({ ...message, request: dear })) }, stage))
    })
  })
})
