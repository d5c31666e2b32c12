import { concat, getBytes, toBeHex } from 'ethers'
import { describe, expect, test } from 'vitest'
import { createProveCall as createCctpProveCall, receiveIntent } from '../../bridges/cctp/calls.ts'
import { createVerify } from '../../bridges/cctp/verify.ts'
import { createExecutorEndpoint } from '../../bridges/executor/evm.ts'
import { createDecode, type ExecutorMessage, writeMessage } from '../../bridges/executor/message.ts'
import { encodeCall, selectorOf } from '../../bridges/kit/calls.ts'
import { createVerifier } from '../../bridges/kit/signed-messages.ts'
import { createPluginEndpoint, createPluginMessages, type Product } from '../../bridges/kit/plugin-bridge.ts'
import { createNtt } from '../../bridges/ntt/ntt.ts'
import { createPaidNtt } from '../../bridges/ntt/paid.ts'
import { createRouteEndpoint } from '../../bridges/packages/endpoints.ts'
import { createReceivers } from '../../bridges/receivers/receivers.ts'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import { devnetGuardians } from '../../lab/devnet/chain/accounts.ts'
import { tokenBridgeMessages } from '../../lab/devnet/wormhole/token-bridge-messages.ts'
import { attest, attesters, baseTransmitters, burnBytes, cctpRoutes, headsAt, transmitterReader, word } from '../helpers/cctp.ts'
import { bytesOf, quoter, signed as signedQuote } from '../helpers/executor.ts'
import { nttPayload } from '../helpers/ntt.ts'
import { noLogs, unused } from '../helpers/unused.ts'
import { altered, signVaa, transferPayload } from '../helpers/vaa.ts'

const address = (digits: string) => `0x${digits.repeat(20)}`
const universal = (digits: string) => digits.repeat(20).padStart(64, '0')
const names = new Map([
  [2, 'ethereum'],
  [4, 'bsc'],
])
/** 0x88 and 0x77 are the managers of `nttPayload`. */
const [emitter, stranger, contract, manager] = ['e1', 'ee', 'c1', '88'] as const

/** A product's call that a key signs, and what the forgeries of this call need. */
interface Case {
  readonly proveCall: (call: Intent) => Promise<unknown>
  readonly genuine: Intent
  readonly message: Uint8Array
  /** The call with `message` in place of the genuine message. */
  readonly of: (message: Uint8Array) => Intent
  /** A call with a message of another emitter that the guardians or attesters have really signed. */
  readonly foreign: Intent
  /** A call whose message has signatures of keys that the chain does not accept. */
  readonly falselySigned: Intent
  readonly undue: Intent
}

const guardians = 3
const set = { index: 0, keys: devnetGuardians(guardians).map((one) => one.address), expirationTime: 0, current: true }
const verify = createVerifier(
  {
    get: async (index) => {
      if (index === 0) return set
      throw new RelayerError('GUARDIAN_SET_IMPOSSIBLE', { facts: { guardianSet: index } })
    },
  },
  () => 1_700_000_000,
)

/** According to the contracts of bsc, nothing is delivered or queued, and only the emitter is accepted. */
const chain = {
  name: 'bsc',
  call: async (_: string, data: string) =>
    data.startsWith(selectorOf('bridgeContracts(uint16)')) ? `0x${universal(emitter)}` : `0x${'00'.repeat(96)}`,
  ...noLogs,
}
const vaa = (payload: string, from: string = emitter, setIndex = 0) =>
  signVaa({ emitterChain: 2, emitter: universal(from), sequence: 7n, payload }, { guardians, setIndex }).bytes

/**
 * A case for calls whose only argument is the signed message. Default for `undue`: the genuine call, sent to another
 * contract.
 */
function ofMessages(
  proveCall: Case['proveCall'],
  { to, signature, payload, undue, value = '0' }: { to: string; signature: string; payload: string; undue?: Intent; value?: string },
): Case {
  const of = (message: Uint8Array) => ({ to, data: encodeCall({ function: signature, args: [message] }), value })
  const genuine = of(vaa(payload))
  return {
    ...{ proveCall, genuine, of, message: vaa(payload) },
    foreign: of(vaa(payload, stranger)),
    falselySigned: of(vaa(payload, emitter, 9)),
    undue: undue ?? { ...genuine, to: address(stranger) },
  }
}

function ofPlugin<C>(plugin: Product<C>, call: Parameters<typeof ofMessages>[1]): Case {
  const messages = createPluginMessages(plugin, names)
  const { proveCall } = createPluginEndpoint(plugin, messages, { chain, clock: () => 0, chainNames: names, verify })
  return ofMessages(proveCall, call)
}

const toReceiver = { to: address(contract), signature: 'executeVAAv1(bytes)', payload: '0x01' }
const complete = (id: string) => encodeCall({ function: 'completeInboundQueuedTransfer(bytes32)', args: [id] })
const undueStage = { to: address(manager), data: complete(`0x${'5a'.repeat(32)}`), value: '0' }
const toTransceiver = { to: address('b1'), signature: 'receiveMessage(bytes)', payload: nttPayload() }
const deployment = {
  peers: {
    ethereum: { manager: universal('77'), transceivers: [universal(emitter)] },
    bsc: { manager: universal(manager), transceivers: [universal('b1')] },
  },
}
const route = {
  ...{ from: [{ source: 'ethereum', emitter: universal(emitter) }], where: { '0': '01' }, to: 'bsc' },
  calls: [{ contract: address(contract), function: 'executeVAAv1(bytes)', proof: 'message' as const }],
}

/** A request to the Executor of ethereum, paid with a quote of the config's quoter. */
async function ofRequest(prefix: 'ERV1' | 'ERN1', call: Parameters<typeof ofMessages>[1]): Promise<Case> {
  const coins = prefix === 'ERV1' ? 5n : 0n
  const receivers = { [address(contract)]: { view: 'isReceived(bytes32)', args: ['$digest'], is: 'true' } }
  const target = { caps: { maxGasLimit: 1_000_000n, maxMsgValue: 10n, maxGasDropOff: 5n }, receivers, prefixes: [prefix] }
  const decode = createDecode(new Map([[2, { name: 'ethereum', contract: address('a1') }]]), names)
  const ntt = createPaidNtt({
    ...{ deployments: [deployment], chainNames: names, sources: new Map(), findVaa: unused('findVaa') },
    targets: new Map([['bsc', { chain: chain as never, clock: () => 1_700_000_000, verify }]]),
  })
  const prices = { expiry: 2_000_000_000n, baseFee: 0n, gasPrice: 1n, sourcePrice: 1n, targetPrice: 1n }
  const asked = prefix === 'ERV1' ? [universal(emitter), toBeHex(7, 8)] : [universal('77'), toBeHex(7, 32)]
  const requestOf = (attested: Uint8Array): ExecutorMessage => ({
    ...{ sourceChain: 2, height: 9, logIndex: 3, txHash: `0x${'09'.repeat(32)}`, attested: [attested] },
    request: {
      ...{ quoter, amountPaid: 100_005n, targetChain: 4, targetAddress: universal(contract), refundAddress: address('f1') },
      signedQuote: signedQuote({ quoter, payee: universal('ab'), sourceChain: 2, targetChain: 4, ...prices }),
      request: Buffer.from(
        getBytes(concat([prefix === 'ERV1' ? '0x45525631' : '0x45524e31', toBeHex(2, 2), `0x${asked[0]}`, asked[1] ?? ''])),
      ),
      instructions: Buffer.from(bytesOf([{ type: 'GasInstruction', gasLimit: 100_000n, msgValue: coins }])),
    },
  })
  const endpoint = createExecutorEndpoint({
    ...{ chain, ...target, maxMsgValue: 10n, verify, verifyRequest: async () => {}, decode, within: () => [], clock: () => 0 },
    wormholeId: 4,
    ...{ terms: { quoter, honourExpired: false, chains: new Map([[4, target]]) }, findVaa: unused('findVaa'), products: { ntt } },
  })
  const one = ofMessages((intent) => endpoint.proveCall(intent, '100000'), { ...call, value: String(coins) })
  // As in a real run, the key learns of calls from the requests that name these messages.
  const plan = async (attested: Uint8Array, stage?: string) => endpoint.delivery(decode(writeMessage(requestOf(attested))), stage).call()
  await plan(one.message)
  // NTT makes no call for a message of another emitter.
  for (const message of [vaa(call.payload, stranger), vaa(call.payload, emitter, 9)]) await plan(message).catch(() => undefined)
  const undue = prefix === 'ERN1' ? await plan(one.message, 'complete') : undefined
  return { ...one, ...(undue && { undue }) }
}

function ofCctp(version: 1 | 2): Case {
  const { chain: reader } = transmitterReader()
  const base = { chain: { ...reader, heads: headsAt(100) }, routes: cctpRoutes, transmitters: baseTransmitters, lanes: [] }
  const { verify: verifyBurn } = createVerify({ ...base, finality: 'fast', ownHeights: true })
  const to = baseTransmitters[version - 1] ?? ''
  const message = burnBytes(version)
  const signedBy = (bytes: Uint8Array, by = attesters.slice(0, 2)) => receiveIntent(to, { bytes, attestation: attest(bytes, by) })
  return {
    ...{ proveCall: createCctpProveCall(verifyBurn), genuine: signedBy(message), message },
    of: (bytes) => receiveIntent(to, { bytes, attestation: attest(message) }),
    foreign: signedBy(burnBytes(version, { sender: word(address(stranger)) })),
    falselySigned: signedBy(message, attesters.slice(1, 3)),
    undue:
      version === 1
        ? { ...signedBy(message), to: address(stranger) }
        : signedBy(burnBytes(2, { minFinality: 2_000, finalityExecuted: 1_000 })),
  }
}

const transfer = transferPayload({ kind: 1, token: universal('d1'), tokenChain: 2, toChain: 4, to: universal('99') })
const tokenBridge = tokenBridgeMessages(names, { bsc: { tokenBridge: address(contract) } }).product
const receiver = {
  ...{ source: 'ethereum', emitter: universal(emitter), where: { '0': '01' }, target: 'bsc', contract: address(contract) },
  ...{ function: 'executeVAAv1(bytes)', delivered: { view: 'isReceived(bytes32)', args: ['$digest'], is: 'true' } },
}

const products: readonly (readonly [string, () => Case | Promise<Case>])[] = [
  ['the token bridge', () => ofPlugin(tokenBridge, { to: address(contract), signature: 'completeTransfer(bytes)', payload: transfer })],
  ['a route of bridges.receivers', () => ofPlugin(createReceivers([receiver]), toReceiver)],
  ['NTT', () => ofPlugin(createNtt([deployment], names), { ...toTransceiver, undue: undueStage })],
  [
    'a package',
    () => ofMessages(createRouteEndpoint({ name: 'own', routes: [route], chain, chainNames: names, verify }).proveCall, toReceiver),
  ],
  ['a request ERV1', () => ofRequest('ERV1', toReceiver)],
  ['a request ERN1', () => ofRequest('ERN1', toTransceiver)],
  ['CCTP v1', () => ofCctp(1)],
  ['CCTP v2', () => ofCctp(2)],
]

const forgeries: Readonly<Record<string, (one: Case) => Intent>> = {
  'another function': ({ genuine }) => ({ ...genuine, data: `0xdeadbeef${genuine.data.slice(10)}` }),
  'another emitter, really signed': ({ foreign }) => foreign,
  'bytes behind the message': ({ of, message }) => of(Buffer.concat([message, Buffer.of(0)])),
  'coins beyond those of its rule': ({ genuine }) => ({ ...genuine, value: String(BigInt(genuine.value) + 1n) }),
  'a changed payload': ({ of, message }) => of(altered(message, message.length - 1, (message.at(-1) ?? 0) ^ 1)),
  'signers of another set': ({ falselySigned }) => falselySigned,
  'a stage that is not due, or another contract': ({ undue }) => undue,
}

describe.each(products)('At the key, of %s', (_, make) => {
  test('the genuine call is signed', async () => {
    const { proveCall, genuine } = await make()
    await expect(proveCall(genuine)).resolves.toMatchObject([{}])
  })

  test.each(Object.entries(forgeries))('%s is refused', async (_name, forge) => {
    const one = await make()
    const forged = forge(one)
    expect(forged).not.toEqual(one.genuine)
    // A guardian set that does not exist yet may exist later, so a message that names such a set waits.
    const codes = ['CALL_UNJUSTIFIED', 'GUARDIAN_SET_IMPOSSIBLE']
    await expect(one.proveCall(forged)).rejects.toSatisfy((error: RelayerError) => codes.includes(error.code))
  })
})
