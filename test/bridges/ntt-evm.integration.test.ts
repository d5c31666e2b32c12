import { concat, hexlify } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { encodeCall } from '../../bridges/kit/calls.ts'
import type { NttDeployment } from '../../bridges/ntt/ntt.ts'
import type { Endpoint } from '../../bridges/port.ts'
import { createBridges } from '../../bridges/registry.ts'
import type { EvmChain } from '../../chains/evm/index.ts'
import { tokenFinding } from '../../cli/doctor/ntt.ts'
import { nttSchema } from '../../config/schema/bridge-schema.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { parseVaa, type Vaa } from '../../domain/vaa.ts'
import { accountIndex, devnetAccount, devnetGuardians } from '../../lab/devnet/chain/accounts.ts'
import { type Anvil, startAnvil } from '../../lab/devnet/chain/anvil.ts'
import { createSender } from '../../lab/devnet/chain/sender.ts'
import { nttEffects, orderNtt } from '../../lab/devnet/ntt/ntt-effects.ts'
import type { SentNttTransfer } from '../../lab/devnet/ntt/ntt-users.ts'
import { deployNtt, type NttNetwork } from '../../lab/devnet/ntt/ntt.ts'
import { until } from '../../lab/devnet/until.ts'
import { type Guardian, startGuardian } from '../../lab/devnet/wormhole/guardian.ts'
import { toUniversal } from '../../lab/devnet/wormhole/vaa.ts'
import { chainPlan, deployWormhole } from '../../lab/devnet/wormhole/wormhole.ts'
import { testChain } from '../helpers/evm.ts'
import { altered, type SignOptions, signVaa } from '../helpers/vaa.ts'

const rateLimitSeconds = 1_000
/** In whole tokens. */
const inboundLimit = 1_000n
const one = 10n ** 8n
const guardians = devnetGuardians(3)
const stranger = devnetAccount(accountIndex.outsider)
const unknownId = `0x${'77'.repeat(32)}`

describe('NTT with its real contracts', () => {
  const nodes: Anvil[] = []
  let guardian: Guardian
  let ntt: NttNetwork
  let chain: EvmChain
  let endpoint: Endpoint
  let decode: (bytes: Uint8Array) => Transfer
  let open: Vaa & { readonly bytes: Uint8Array }

  beforeAll(async () => {
    nodes.push(...(await Promise.all([1337, 1397].map((chainId) => startAnvil({ chainId, blockTimeSeconds: 0.2 })))))
    const plans = [chainPlan('ethereum', 2, nodes[0]!, 0), chainPlan('bsc', 4, nodes[1]!, 1)] as const
    const [ethereum, bsc] = await deployWormhole(plans, { guardians })
    guardian = await startGuardian([ethereum, bsc], { guardians })
    ntt = await deployNtt({ ethereum, bsc }, { rateLimitSeconds, inboundLimit })
    chain = testChain(nodes[1]!.url, { name: 'bsc', networkId: 1397 })
    await chain.connect()
    const configured = ([name, { wormholeChainId, core, tokenBridge }]: [string, typeof bsc]) =>
      [name, { networkId: 1, wormholeChainId, contracts: { core, tokenBridge } }] as const
    const chains = Object.fromEntries(Object.entries({ ethereum, bsc }).map(configured))
    const bridge = createBridges({ chains, bridges: { ntt: nttSchema.parse({ tokens: [token()] }) } }, new Map([['bsc', chain]])).get(
      'ntt',
    )!
    endpoint = bridge.endpoints.get('bsc')!
    decode = bridge.decode
    open = await signedOf((await ntt.users.ethereum.send([{ amount: one }]))[0]!)
  })

  afterAll(async () => {
    chain?.close()
    await guardian?.stop()
    await Promise.all(nodes.map((node) => node.stop()))
  })

  function token() {
    const peers = Object.values(ntt.ends).map(({ name, manager, transceivers }) => [name, { manager, transceivers }] as const)
    return { peers: Object.fromEntries(peers), free: true }
  }

  async function signedOf({ emitterChain, emitter, sequence }: SentNttTransfer) {
    const { bytes } = await guardian.waitFor(emitterChain, emitter, sequence)
    return { ...parseVaa(bytes), bytes }
  }

  const receive = (bytes: Uint8Array): Intent => ({
    to: ntt.ends.bsc.transceivers[0]!,
    data: encodeCall({ function: 'receiveMessage(bytes)', args: [bytes] }),
    value: '0',
  })
  const complete = (id: string): Intent => ({
    to: ntt.ends.bsc.manager,
    data: encodeCall({ function: 'completeInboundQueuedTransfer(bytes32)', args: [id] }),
    value: '0',
  })
  const perform = ({ to, data }: Intent) => createSender(nodes[1]!, stranger, 1_000_000n)([{ to, data }])
  /** A message that differs from the transfer's. The guardians sign it, unless `options` name other signers. */
  const forged = (message: { emitter?: string; payload?: Uint8Array }, options: SignOptions = {}) => {
    const { payload = open.payload, emitter = open.emitter } = message
    return signVaa({ ...open, vaaNonce: 0, sequence: 900n, emitter, payload: hexlify(payload) }, { guardians: 3, ...options }).bytes
  }
  const changed = () => altered(open.bytes, open.bytes.length - 100, 9)

  test('a key signs the message of a transfer for its transceiver', async () => {
    await expect(endpoint.proveCall(receive(open.bytes))).resolves.toMatchObject([{ sourceChain: 'ethereum' }])
    await expect(endpoint.proveCall(receive(forged({})))).resolves.toMatchObject([{ sourceChain: 'ethereum' }])
  })

  const forgeries: readonly (readonly [string, () => Partial<Intent>])[] = [
    ['another function', () => ({ data: encodeCall({ function: 'setWormholePeer(bytes)', args: [open.bytes] }) })],
    ['another contract', () => ({ to: ntt.ends.bsc.manager })],
    ['another emitter, really signed', () => receive(forged({ emitter: toUniversal(ntt.ends.bsc.manager) }))],
    ['a message for another manager', () => receive(forged({ payload: altered(open.payload, 60, 9) }))],
    ['a message for another chain', () => receive(forged({ payload: altered(open.payload, 136 + 78, 2) }))],
    ['bytes behind the message', () => ({ data: concat([receive(open.bytes).data, '0x00']) })],
    ['coins', () => ({ value: '1' })],
    ['a changed payload', () => receive(changed())],
    ['too few guardians', () => receive(forged({}, { signers: [0] }))],
    ['guardians of another set', () => receive(forged({}, { guardians: 19, signers: [4, 5, 6] }))],
    ['the completion of an unknown transfer', () => complete(unknownId)],
    ['a completion with bytes behind it', () => ({ ...complete(unknownId), data: `${complete(unknownId).data}00` })],
  ]
  test.each(forgeries)('a key does not sign %s', async (_, forgery) => {
    const call = { ...receive(open.bytes), ...forgery() }
    await expect(endpoint.proveCall(call)).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
  })

  test('a key does not sign a message of a guardian set that does not exist', async () => {
    await expect(endpoint.proveCall(receive(forged({}, { setIndex: 1 })))).rejects.toMatchObject({ code: /GUARDIAN_SET/ })
  })

  test('a key signs a completion only while the transfer is in the queue, and when its time has come', async () => {
    const { bsc } = ntt.ends
    const [sent] = await ntt.users.ethereum.send([{ amount: (inboundLimit + 1n) * one }])
    const { bytes } = await signedOf(sent!)
    const transfer = decode(bytes)
    const id = sent!.digest
    expect(await endpoint.stages!.next(transfer)).toEqual({ kind: 'stage', stage: 'receive' })
    await expect(endpoint.proveCall(complete(id))).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
    await perform(receive(bytes))
    const since = (await nttEffects(bsc).queued(id))!.since
    const next = await endpoint.stages!.next(transfer)
    expect(next).toMatchObject({ kind: 'wait', code: 'DELIVERY_NOT_DUE', opensAt: since + rateLimitSeconds })
    expect(await endpoint.stages!.passed(transfer, 'receive', 'latest')).toBe(true)
    expect(await endpoint.delivered(transfer, 'latest')).toBe(false)
    await expect(endpoint.proveCall(complete(id))).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
    await bsc.anvil.rpc('evm_increaseTime', [rateLimitSeconds])
    await bsc.anvil.rpc('evm_mine')
    const isDue = async () => (await endpoint.stages!.next(transfer))?.kind === 'stage'
    await until(isDue, { timeoutMs: 20_000, everyMs: 100, what: 'the head to show the end of the queue' })
    expect(await endpoint.stages!.next(transfer)).toEqual({ kind: 'stage', stage: 'complete' })
    await expect(endpoint.proveCall(complete(id))).resolves.toEqual(['ethereum'])
    expect(await endpoint.delivery(transfer, 'complete').call()).toEqual(complete(id))
    await perform(complete(id))
    expect(await endpoint.delivered(transfer, 'latest')).toBe(true)
    await expect(endpoint.proveCall(complete(id))).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
    expect(await nttEffects(bsc).balanceOf(sent!.recipient)).toBe(sent!.amount)
  })

  test('portage doctor knows the contracts of a token, and names what differs from the config', async () => {
    const { ethereum, bsc } = ntt.ends
    const numberOf = (name: string) => (name === 'ethereum' ? 2 : 4)
    const { peers } = nttSchema.parse({ tokens: [token()] }).tokens[0]!
    const finding = (changes: NttDeployment['peers'] = {}) => tokenFinding(chain, { peers: { ...peers, ...changes } }, numberOf)
    expect(await finding()).toBe(`${bsc.manager}, 1 of 1 transceivers must attest`)
    const word = (of: string) => toUniversal(of)
    const { manager, transceivers } = peers['ethereum']!
    for (const [changes, detail] of [
      [{ bsc: { ...peers['bsc']!, manager: word(stranger.address) } }, 'has no code'],
      [{ bsc: { ...peers['bsc']!, manager: word(bsc.token) } }, 'does not answer as NTT does'],
      [{ bsc: { ...peers['bsc']!, transceivers: [word(bsc.token)] } }, `${bsc.token} is not a transceiver of ${bsc.manager}`],
      [{ ethereum: { transceivers, manager: word(ethereum.token) } }, `the peer of ${bsc.manager} on ethereum is ${manager}`],
      [{ ethereum: { manager, transceivers: [manager] } }, `the peer of ${bsc.transceivers[0]} on ethereum is ${transceivers[0]}`],
    ] as const)
      expect(await finding(changes)).toMatchObject({ status: 'fail', detail: expect.stringContaining(detail) })
    await orderNtt(bsc, 'pause')
    expect(await finding()).toMatchObject({ status: 'warn', detail: expect.stringContaining('it is paused') })
    await orderNtt(bsc, 'unpause')
  })
})
