import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ContractReader } from '../../bridges/kit/contract-reader.ts'
import { batchIntent, completionIntent } from '../../bridges/native-bridge/calls.ts'
import { nativeBridgeAbi } from '../../bridges/native-bridge/contracts.ts'
import { createEvmEndpoint, type NativeEndpoint } from '../../bridges/native-bridge/evm.ts'
import { idOf, type NativeTransfer, toTransfer } from '../../bridges/native-bridge/message.ts'
import { signingPolicy } from '../../workers/roles/signer.ts'
import { signingLimitsSchema } from '../../config/schema/lane-schema.ts'
import { withPolicy } from '../../chains/evm/signers/policy.ts'
import type { Intent } from '../../domain/lane/lane.ts'
import { noSettings } from '../../domain/settings/settings.ts'
import { type NativeBridgeNetwork, startNativeBridge } from '../helpers/native-bridge.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { codeOfAsync } from '../helpers/refusals.ts'

/** The target trusts every sender with RELAYER_ROLE, so each of these calls would succeed if a lane signed it. */
describe('The calls that the key of a lane signs for the native bridge', () => {
  let network: NativeBridgeNetwork
  let recorded: readonly NativeTransfer[]
  let endpoint: NativeEndpoint
  let to: string

  beforeAll(async () => {
    network = await startNativeBridge('fixed')
    recorded = await network.start(...Array.from({ length: 6 }, (_, index) => 100n + BigInt(index)))
    await network.source.finalise()
    to = network.target.bridge
    endpoint = network.endpoint
  })
  afterAll(() => network?.stop())

  const forge = (changes: Partial<NativeTransfer>, base = recorded[0]!): NativeTransfer => {
    const changed = { ...base, ...changes }
    return { ...changed, id: idOf(changed) }
  }
  const thief = `0x${'0'.repeat(24)}${'7e'.repeat(20)}`
  const refused = (call: Intent) => expect(endpoint.proveCall(call)).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })

  test('an invented completion would succeed on the chain, and is not signed', async () => {
    const call = completionIntent(to, forge({ recipient: thief, amount: 10n ** 6n }))
    expect(await network.target.chain.simulate(call, network.relayer.address)).toMatchObject({ ok: true })
    await refused(call)
    const bridges = [{ ...endpoint, bridge: 'native-bridge' }]
    const chain = { family: 'evm' as const, networkId: 1397, lanes: [], signing: signingLimitsSchema.parse({}) }
    const policy = signingPolicy({
      chainName: 'target',
      chain,
      lane: { address: network.relayer.address },
      dataFee: async () => '0',
      finalNonce: async () => 0,
      bridges,
      settings: () => noSettings,
      spendingFolder: temporaryFolder(),
    })
    const signer = withPolicy(network.relayer, policy)
    await expect(network.deliver(call, '500000', signer)).rejects.toMatchObject({ code: 'CALL_UNJUSTIFIED' })
    expect(await network.deliver(completionIntent(to, recorded[5]!), '500000', signer)).toMatchObject({ status: 'success' })
  })

  test('a completion with a number that the source has not given out yet waits, and delays no other', async () => {
    expect(await codeOfAsync(() => endpoint.proveCall(completionIntent(to, forge({ nonce: 99n }))))).toBe('NATIVE_NOT_FINAL')
    await endpoint.proveCall(completionIntent(to, recorded[0]!))
  })

  test('a batch with a forged row, with a row twice, or without rows is not signed', async () => {
    const sources = recorded.map(({ recipient }) => {
      return { sourceChain: network.route.sourceChain, parties: { recipient: `0x${recipient.slice(26)}` } }
    })
    expect(await endpoint.proveCall(batchIntent(to, recorded))).toMatchObject(sources)
    await refused(batchIntent(to, [...recorded.slice(0, 3), forge({ recipient: thief }, recorded[4]), recorded[5]!]))
    const rows = [recorded[0]!, recorded[0]!].map((row) => ({ ...row }))
    const twice = rows.map(({ id }) => id)
    const { data } = completionIntent(to, recorded[0]!)
    const [, initiator, recipient, amount, nonce] = nativeBridgeAbi.decodeFunctionData('completeBridgeTransfer', data)
    const double = (value: unknown) => [value, value]
    const encode = (columns: readonly unknown[]) => ({
      to,
      value: '0',
      data: nativeBridgeAbi.encodeFunctionData('batchCompleteBridgeTransfer', columns),
    })
    await refused(encode([twice, double(initiator), double(recipient), double(amount), double(nonce)]))
    await refused(encode([[], [], [], [], []]))
    // The column of the amounts has two rows, and each other column has one.
    await refused(encode([[twice[0]], [initiator], [recipient], double(amount), [nonce]]))
  })

  test('a recently validated message costs no read when it is signed', async () => {
    const { target, source, route } = network
    let reads = 0
    const counting: ContractReader = {
      name: source.chain.name,
      call(...query) {
        reads += 1
        return source.chain.call(...query)
      },
    }
    const own = createEvmEndpoint({ chain: target.chain, routes: [{ ...route, source: counting }] })
    for (const one of recorded) expect(await own.validate(toTransfer(route, one))).toMatchObject({ kind: 'valid' })
    const before = reads
    await own.proveCall(batchIntent(to, recorded))
    await own.proveCall(completionIntent(to, recorded[2]!))
    expect([before, reads]).toEqual([recorded.length, recorded.length])
  })

  test('while the source cannot be read nothing is signed, and it is tried again', async () => {
    const { target, source, route } = network
    const silent = { name: source.chain.name, call: () => source.chain.call(to, '0x00000000', 'latest') }
    const own = createEvmEndpoint({ chain: target.chain, routes: [{ ...route, source: silent }] })
    await expect(own.proveCall(completionIntent(to, recorded[0]!))).rejects.toMatchObject({ retriable: true })
  })
})
