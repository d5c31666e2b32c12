import { concat, decodeBase64, encodeBase64, getBytes, hexlify } from 'ethers'
import { beforeAll, describe, expect, test } from 'vitest'
import { checkAttestation, createAttesters } from '../../bridges/cctp/attesters.ts'
import { receiveIntent, sentTopic } from '../../bridges/cctp/calls.ts'
import { readCarried, writeCarried } from '../../bridges/cctp/carried.ts'
import { createEvmEndpoint } from '../../bridges/cctp/evm.ts'
import { type CctpFinality, loggedBytes, readBurn, readMessage, zeroWord } from '../../bridges/cctp/message.ts'
import { cctp, type CctpChain, createDecode, createRoutes } from '../../bridges/cctp/routes.ts'
import { createLogDecode } from '../../bridges/cctp/bridge.ts'
import { createPlacedLogs } from '../../bridges/kit/placed-logs.ts'
import type { EvmChain } from '../../chains/evm/index.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { createIris } from '../../intake/submit/iris.ts'
import { type DevnetAccount, devnetAccount, devnetAttesters } from '../../lab/devnet/chain/accounts.ts'
import { startAnvil } from '../../lab/devnet/chain/anvil.ts'
import { Script } from '../../lab/devnet/chain/contracts.ts'
import { signMessage } from '../../lab/devnet/cctp/attestations.ts'
import { type CctpEnd, cctpAbis, deployCctp } from '../../lab/devnet/cctp/cctp.ts'
import { type SentBurn, startCctpUsers, type UserBurn } from '../../lab/devnet/cctp/cctp-users.ts'
import { type Iris, startIris } from '../../lab/devnet/cctp/iris.ts'
import { writeMessage } from '../../lab/devnet/cctp/write-message.ts'
import { cleanUp } from '../helpers/clean-up.ts'
import { codeOf } from '../helpers/refusals.ts'
import { word } from '../helpers/cctp.ts'
import { testChain } from '../helpers/evm.ts'
import { altered } from '../helpers/vaa.ts'

const relayer = devnetAccount(10)
const stranger = devnetAccount(11)
const [first, second, third] = devnetAttesters(3) as [DevnetAccount, DevnetAccount, DevnetAccount]
const versions = [1, 2] as const

interface EndpointFields {
  readonly finality?: CctpFinality
  readonly ownHeights?: boolean
  readonly from?: Iris
}

/** Both chains have both versions of CCTP. A message needs the signatures of both attesters. */
describe('CCTP on real chains', () => {
  let [source, target] = [] as unknown as [CctpEnd, CctpEnd]
  let [from, to] = [] as unknown as [EvmChain, EvmChain]
  let iris: Iris
  let routes: ReturnType<typeof createRoutes>
  let placed: Record<1 | 2, ReturnType<typeof createPlacedLogs>>

  beforeAll(async () => {
    const options = { blockTimeSeconds: 0.2, slotsInAnEpoch: 3 }
    const nodes = await Promise.all([startAnvil({ ...options, chainId: 1337 }), startAnvil({ ...options, chainId: 1397 })])
    cleanUp(...nodes.map((node) => () => node.stop()))
    const plans = nodes.map((anvil, index) => ({ name: ['ethereum', 'base'][index]!, anvil, domain: index * 6 }))
    const attesters = [first, second]
    ;[source, target] = (await deployCctp(plans, { attesters })) as [CctpEnd, CctpEnd]
    ;[from, to] = [source, target].map(({ name, anvil }) => testChain(anvil.url, { name, networkId: anvil.chainId })) as [
      EvmChain,
      EvmChain,
    ]
    cleanUp(from.close, to.close)
    await Promise.all([from.connect(), to.connect()])
    iris = await startIris([source, target], { attesters })
    cleanUp(iris.stop)
    routes = createRoutes([source, target].map(chainOf))
    const logs = (version: 1 | 2) => {
      const options = { chain: from, bridge: cctp, contract: source.contracts[version].transmitter, topics: [sentTopic], maxOpen: 10 }
      return createPlacedLogs({ ...options, decode: createLogDecode(createDecode(routes)), isDelivered: async () => false })
    }
    placed = { 1: logs(1), 2: logs(2) }
  })

  function chainOf({ name, anvil, domain, contracts }: CctpEnd): CctpChain {
    const words = versions.map((version) => {
      const { transmitter, messenger } = contracts[version]
      return [version, { transmitter, tokenMessenger: word(messenger) }] as const
    })
    return { chain: name, networkId: String(anvil.chainId), domain, contracts: Object.fromEntries(words) }
  }

  const endpointOf = ({ finality = 'fast', ownHeights = true, from: service = iris }: EndpointFields = {}) =>
    createEvmEndpoint({
      chain: to,
      routes,
      transmitters: versions.map((version) => target.contracts[version].transmitter),
      ...{ lanes: [relayer.address], finality, ownHeights },
      apis: createIris({ urls: [service.url], perSecond: 1_000 }),
      recorded: async (carried) => {
        const { version } = readMessage(carried.bytes)
        await placed[version].verify({ sequence: carried.number, message: encodeBase64(writeCarried(carried)) })
      },
    })

  const burn = async (fields: Partial<UserBurn>) => {
    const [sent] = await startCctpUsers(source, target).burn([{ version: 2, amount: 5_000_000n, ...fields }])
    return sent!
  }

  async function transferOf({ version, height, message }: SentBurn): Promise<Transfer> {
    await expect.poll(() => (from.heads.current?.finalized ?? 0) >= height).toBe(true)
    const found = await placed[version].source.initiated({ fromBlock: height, toBlock: height }, 'agreed')
    expect(found.map(({ transfer }) => hexlify(carriedIn(transfer).bytes))).toEqual([hexlify(message)])
    return found[0]!.transfer
  }

  async function attestedBy(endpoint: ReturnType<typeof endpointOf>, transfer: Transfer): Promise<Transfer> {
    let message: Uint8Array | undefined
    await expect
      .poll(async () => {
        const answer = await endpoint.attest?.(transfer)
        if (answer?.kind === 'attested') message = answer.message
        return answer?.kind
      })
      .toBe('attested')
    return { ...transfer, message: Buffer.from(message!).toString('base64') }
  }

  const carriedIn = ({ message }: Transfer) => readCarried(decodeBase64(message))

  async function send({ to: contract, data }: Intent, account = relayer): Promise<string> {
    const hash = await target.anvil.rpc<string>('eth_sendTransaction', [{ from: account.address, to: contract, data, gas: '0x7a120' }])
    await expect.poll(async () => target.anvil.rpc('eth_getTransactionReceipt', [hash])).not.toBeNull()
    return hash
  }

  const simulate = (call: Intent, account = relayer) => to.simulate(call, account.address)
  const revertOf = async (call: Intent, account = relayer) => {
    const simulated = await simulate(call, account)
    return simulated.ok ? 'none' : simulated.revert.reason
  }

  async function balance(of: string): Promise<bigint> {
    return BigInt(await to.balanceOf(of, target.token))
  }

  async function owner(version: 1 | 2, method: string, ...args: unknown[]): Promise<void> {
    const script = await Script.of(target.anvil, target.deployer)
    script.call(target.contracts[version].transmitter, (await cctpAbis())[version].transmitter, method, args)
    await script.mine()
  }

  test.each(versions)('a burn of v%i is attested, proved, received once, and found', async (version) => {
    const endpoint = endpointOf()
    const sent = await burn({ version })
    const transfer = await transferOf(sent)
    expect(await endpoint.delivered(transfer, 'latest')).toBe(false)
    const whole = await attestedBy(endpoint, transfer)
    const carried = carriedIn(whole)
    expect(hexlify(loggedBytes(carried.bytes))).toBe(hexlify(sent.message))
    expect(await createAttesters(to, target.contracts[version].transmitter)()).toEqual({
      threshold: 2,
      enabled: new Set([first.address, second.address]),
    })
    const call = await endpoint.delivery(whole).call()
    await endpoint.proveCall(call)
    expect(await endpoint.validate(whole)).toEqual({ kind: 'valid' })
    expect(await simulate(call)).toMatchObject({ ok: true })
    const hash = await send(call)
    expect(endpoint.hasEffect((await to.receipt(hash))!, whole)).toBe(true)
    expect(await balance(sent.recipient)).toBe(5_000_000n)
    await expect.poll(() => endpoint.delivered(whole, 'finalized')).toBe(true)
    expect(await endpoint.findDelivery(whole)).toMatchObject({ by: relayer.address, txHash: hash })
    const again = await simulate(call, stranger)
    expect(again).toMatchObject({ ok: false, revert: { reason: 'Nonce already used', data: expect.stringMatching(/^0x08c379a0/) } })
    expect(endpoint.explainRevert(again.ok ? { data: '0x', reason: '' } : again.revert, whole)).toEqual({ kind: 'delivered' })
  })

  test.each(versions)('the contract of v%i refuses the attestations that are refused here', async (version) => {
    const endpoint = endpointOf()
    const { bytes, attestation } = carriedIn(await attestedBy(endpoint, await transferOf(await burn({ version }))))
    const transmitter = target.contracts[version].transmitter
    const attesters = await createAttesters(to, transmitter)()
    const forged = (...by: DevnetAccount[]) => getBytes(signMessage(bytes, by))
    const badV = Uint8Array.from(attestation).fill(0, 64, 65)
    const cases = [
      ['Invalid signature: not attester', forged(first, third)],
      ['Invalid attestation length', forged(first)],
      ['Invalid attestation length', getBytes(concat([attestation, '0x00']))],
      ['Invalid signature order or dupe', forged(second, first)],
      ['Invalid signature order or dupe', forged(first, first)],
      ["ECDSA: invalid signature 'v' value", badV],
    ] as const
    for (const [reason, signatures] of cases) {
      const call = receiveIntent(transmitter, { bytes, attestation: signatures })
      expect(codeOf(() => checkAttestation({ bytes, attestation: signatures }, attesters))).toBe('CCTP_ATTESTATION')
      await expect(endpoint.proveCall(call)).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
      expect(await revertOf(call)).toBe(reason)
    }
    const longer = receiveIntent(transmitter, { bytes: getBytes(concat([bytes, '0x00'])), attestation })
    await expect(endpoint.proveCall(longer)).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
    expect(await revertOf(longer)).toMatch(/^Invalid signature/)
  })

  test.each(versions)('the contract of v%i reverts with known texts, whatever its attesters sign', async (version) => {
    const endpoint = endpointOf()
    const { bytes } = carriedIn(await attestedBy(endpoint, await transferOf(await burn({ version }))))
    const { transmitter } = target.contracts[version]
    const good = readMessage(bytes)
    const body = version === 1 ? 116 : 148
    const cases: [string, string, Uint8Array][] = [
      ['Invalid destination domain', 'permanent', writeMessage({ ...good, destinationDomain: 0 })],
      ['Invalid message version', 'permanent', altered(bytes, 3, version === 1 ? 1 : 0)],
      ['Remote TokenMessenger unsupported', 'wait', writeMessage({ ...good, sender: word(stranger.address) })],
      ['Invalid message body version', 'permanent', altered(bytes, body + 3, 9)],
      ['Mint token not supported', 'wait', altered(bytes, body + 4, 9)],
      ['Invalid message: too short', 'unknown', bytes.subarray(0, body - 1)],
      [version === 1 ? 'Invalid message length' : 'Invalid burn message: too short', 'unknown', bytes.subarray(0, body + 100)],
    ]
    if (version === 2) {
      cases.push(
        ['Nonce already used', 'delivered', writeMessage({ ...good, nonce: zeroWord })],
        ['Unsupported finality threshold', 'unknown', writeMessage({ ...good, finalityExecuted: 499 })],
        ['Fee exceeds max fee', 'permanent', altered(bytes, body + 195, 1)],
        ['Fee equals or exceeds amount', 'permanent', altered(bytes, body + 164, 1)],
      )
    }
    for (const [reason, kind, message] of cases) {
      const attestation = getBytes(signMessage(message, [first, second]))
      expect(await revertOf(receiveIntent(transmitter, { bytes: message, attestation }))).toBe(reason)
      expect(endpoint.explainRevert({ data: '0x', reason })).toMatchObject({ kind })
    }
  })

  test.each(versions)('only the named caller receives a message of v%i', async (version) => {
    const endpoint = endpointOf()
    const foreign = await transferOf(await burn({ version, caller: stranger.address }))
    expect(await endpoint.attest?.(foreign)).toBeUndefined()
    expect(await endpoint.validate(foreign)).toMatchObject({ kind: 'declined', code: 'CCTP_CALLER' })
    const whole = await attestedBy(endpoint, await transferOf(await burn({ version, caller: relayer.address })))
    const call = await endpoint.delivery(whole).call()
    await endpoint.proveCall(call)
    expect(await revertOf(call, stranger)).toBe('Invalid caller for message')
    expect(endpoint.explainRevert({ data: '0x', reason: 'Invalid caller for message' })).toMatchObject({ code: 'CCTP_CALLER' })
    expect(await simulate(call)).toMatchObject({ ok: true })
  })

  test.each(versions)('a paused contract of v%i keeps a delivery waiting', async (version) => {
    const endpoint = endpointOf()
    const call = await endpoint.delivery(await attestedBy(endpoint, await transferOf(await burn({ version })))).call()
    await owner(version, 'pause')
    const reason = await revertOf(call)
    await owner(version, 'unpause')
    expect(endpoint.explainRevert({ data: '0x', reason })).toEqual({ kind: 'wait', code: 'BRIDGE_PAUSED', reason: 'Pausable: paused' })
    expect(await simulate(call)).toMatchObject({ ok: true })
  })

  test('a fast burn pays its fee, and is delivered with what is left and with its hook data', async () => {
    const endpoint = endpointOf()
    const sent = await burn({ minFinality: 1_000, maxFee: 600n, hookData: '0xbeef' })
    const whole = await attestedBy(endpoint, await transferOf(sent))
    const message = readMessage(carriedIn(whole).bytes)
    expect(message.finalityExecuted).toBe(1_000)
    expect({ ...readBurn(message), hookData: hexlify(readBurn(message).hookData) }).toMatchObject({ feeExecuted: 500n, hookData: '0xbeef' })
    const before = await balance(target.feeRecipient)
    const call = await endpoint.delivery(whole).call()
    await endpoint.proveCall(call)
    await expect(endpointOf({ finality: 'finalized' }).proveCall(call)).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
    await send(call)
    expect([await balance(sent.recipient), await balance(target.feeRecipient)]).toEqual([4_999_500n, before + 500n])
  })

  test('a fast burn that offers too little is attested at finality, without a fee', async () => {
    const endpoint = endpointOf()
    const transfer = await transferOf(await burn({ minFinality: 1_000, maxFee: 499n }))
    const message = readMessage(carriedIn(await attestedBy(endpoint, transfer)).bytes)
    expect([message.finalityExecuted, readBurn(message).feeExecuted]).toEqual([2_000, 0n])
  })

  test('an expired attestation is reverted, asked for again, and delivered', async () => {
    const short = await startIris([source, target], { attesters: [first, second], fastBlocks: 60 })
    cleanUp(short.stop)
    const [watching, blind] = [endpointOf({ from: short }), endpointOf({ from: short, ownHeights: false })]
    const sent = await burn({ minFinality: 1_000, maxFee: 600n })
    const transfer = await transferOf(sent)
    const whole = await attestedBy(blind, transfer)
    const call = await blind.delivery(whole).call()
    await target.anvil.rpc('anvil_mine', ['0x50'])
    const reason = 'Message expired and must be re-signed'
    await expect.poll(() => revertOf(call)).toBe(reason)
    const refusal = () => watching.proveCall(call).catch(({ message }: Error) => message)
    await expect.poll(refusal).toContain('CCTP_EXPIRED')
    await blind.proveCall(call)
    expect(blind.explainRevert({ data: '0x', reason }, whole)).toMatchObject({ kind: 'wait', code: 'CCTP_EXPIRED' })
    const fresh = await attestedBy(blind, whole)
    expect(readMessage(carriedIn(fresh).bytes).finalityExecuted).toBe(2_000)
    const again = await watching.delivery(fresh).call()
    await watching.proveCall(again)
    await send(again)
    expect(await balance(sent.recipient)).toBe(4_999_500n)
    await expect.poll(() => watching.delivered(fresh, 'finalized')).toBe(true)
  })

  test.each(versions)('attesters of v%i that change are read again, and so are attestations', async (version) => {
    const transfer = await transferOf(await burn({ version }))
    const whole = await attestedBy(endpointOf(), transfer)
    const call = await endpointOf().delivery(whole).call()
    await owner(version, 'enableAttester', third.address)
    await owner(version, 'disableAttester', second.address)
    const endpoint = endpointOf()
    await expect(endpoint.proveCall(call)).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
    expect(await revertOf(call)).toBe('Invalid signature: not attester')
    expect(await endpoint.attest?.(whole)).toMatchObject({ kind: 'wait', code: 'CCTP_ATTESTATION' })
    const other = await startIris([source, target], { attesters: [first, third].toSorted((a, b) => (a.address < b.address ? -1 : 1)) })
    cleanUp(other.stop)
    const fresh = await attestedBy(endpointOf({ from: other }), whole)
    const again = await endpoint.delivery(fresh).call()
    await endpoint.proveCall(again)
    expect(await simulate(again)).toMatchObject({ ok: true })
    await owner(version, 'setSignatureThreshold', 1)
    await expect(endpointOf().proveCall(again)).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
    expect(await revertOf(again)).toBe('Invalid attestation length')
  })
})
