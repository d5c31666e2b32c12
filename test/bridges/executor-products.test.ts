import { UniversalAddress } from '@wormhole-foundation/sdk-definitions'
import { concat, decodeBase64, getBytes, toBeHex } from 'ethers'
import { describe, expect, test } from 'vitest'
import { createExecutorEndpoint, type ExecutorEndpointOptions } from '../../bridges/executor/evm.ts'
import { createDecode, writeMessage } from '../../bridges/executor/message.ts'
import { selectorOf } from '../../bridges/kit/calls.ts'
import { createVerifier, digestOf } from '../../bridges/kit/signed-messages.ts'
import type { Transfer } from '../../domain/transfer/transfer.ts'
import { parseVaa } from '../../domain/vaa.ts'
import { createPaidNtt } from '../../bridges/ntt/paid.ts'
import { devnetGuardians } from '../../lab/devnet/chain/accounts.ts'
import { bytesOf, quoter, signed } from '../helpers/executor.ts'
import { nttPayload } from '../helpers/ntt.ts'
import { unused } from '../helpers/unused.ts'
import { signVaa } from '../helpers/vaa.ts'

const universal = (digits: string) => digits.repeat(20).padStart(64, '0')
const names = new Map([
  [2, 'ethereum'],
  [4, 'bsc'],
])
const payer = `0x${'dd'.repeat(20)}`
const dropOff = 5n
const [first, second] = ['a1', 'a2'].map(universal) as [string, string]
const deployment = {
  peers: {
    ethereum: { manager: universal('77'), transceivers: [first, second] },
    bsc: { manager: universal('88'), transceivers: ['b1', 'b2'].map(universal) },
  },
}
const vaaOf = (emitter: string, id = 7n) =>
  signVaa({ emitterChain: 2, emitter, sequence: id, payload: nttPayload({ id }) }, { guardians: 3 }).bytes
const executed = selectorOf('isMessageExecuted(bytes32)')

interface Options extends Pick<ExecutorEndpointOptions, 'clock'> {
  readonly honourExpired?: boolean
  /** The manager has executed all messages. */
  readonly executes?: boolean
}

/** The contracts of bsc answer every view with zero, except that messages of `consumed` emitters count as consumed. */
function endpointOf({ clock = () => 0, honourExpired = false, executes = false }: Options = {}, consumed: readonly string[] = []) {
  const set = { index: 0, keys: devnetGuardians(3).map(({ address }) => address), expirationTime: 0, current: true }
  const verify = createVerifier({ get: async () => set }, () => 1_700_000_000)
  const seen = consumed.flatMap((emitter) => [7n, 1n].map((id) => digestOf(parseVaa(vaaOf(emitter, id))).slice(2)))
  const isSeen = (data: string) => (executes && data.startsWith(executed)) || seen.some((digest) => data.includes(digest))
  const chain = { name: 'bsc', call: async (_: string, data: string) => (isSeen(data) ? toBeHex(1, 32) : `0x${'00'.repeat(96)}`) }
  const reads = { ...chain, logs: unused('logs'), transactionSender: unused('transactionSender') }
  const ntt = createPaidNtt({
    ...{ deployments: [deployment], chainNames: names, sources: new Map(), findVaa: unused('findVaa') },
    targets: new Map([['bsc', { chain: reads as never, clock: () => 1_700_000_000, verify }]]),
  })
  const caps = { maxGasLimit: 1_000_000n, maxMsgValue: 10n, maxGasDropOff: 10n }
  const target = { caps, prefixes: ['ERN1'] as const, receivers: {}, dropOffContracts: { ERN1: payer } }
  return createExecutorEndpoint({
    ...{ chain, ...target, maxMsgValue: 10n, verify, verifyRequest: async () => {}, findVaa: unused('findVaa'), products: { ntt } },
    wormholeId: 4,
    terms: { quoter, honourExpired, chains: new Map([[4, target]]) },
    ...{ decode, within: () => [] },
    clock,
  })
}

const decode = createDecode(new Map([[2, { name: 'ethereum', contract: payer }]]), names)

function transferOf(emitters: readonly string[], attested = emitters.map((emitter) => vaaOf(emitter))) {
  const drop = { type: 'GasDropOffInstruction' as const, dropOff, recipient: new UniversalAddress(`0x${universal('ee')}`) }
  const prices = { gasPrice: 1n, sourcePrice: 1n, targetPrice: 1n }
  return decode(
    writeMessage({
      ...{ sourceChain: 2, height: 9, logIndex: 3, txHash: `0x${'09'.repeat(32)}`, attested },
      request: {
        ...{ quoter, amountPaid: 100_005n, targetChain: 4, targetAddress: universal('88'), refundAddress: payer },
        signedQuote: signed({
          quoter,
          payee: universal('ab'),
          sourceChain: 2,
          targetChain: 4,
          expiry: 2_000_000_000n,
          baseFee: 0n,
          ...prices,
        }),
        request: Buffer.from(getBytes(concat(['0x45524e31', toBeHex(2, 2), `0x${universal('77')}`, toBeHex(7, 32)]))),
        instructions: Buffer.from(bytesOf([{ type: 'GasInstruction', gasLimit: 100_000n, msgValue: 0n }, drop])),
      },
    }),
  )
}

describe('The drop-off of a transfer of NTT', () => {
  const values = (emitters: readonly string[]) => {
    const endpoint = endpointOf()
    const transfer = transferOf(emitters)
    const stages = emitters.map((_, index) => (index === 0 ? 'receive' : `receive ${index + 1}`))
    return Promise.all(
      stages.map(async (stage) => {
        const call = await endpoint.delivery(transfer, stage).call()
        await expect(endpoint.proveCall(call)).resolves.toMatchObject([{ payment: transferOf([]).digest }])
        return [call.to, call.value]
      }),
    )
  }
  const plain = (digits: string) => [`0x${digits.repeat(20)}`, '0']

  test.each([
    ['in order', [first, second], [[payer, '5'], plain('b2')]],
    ['in another order', [second, first], [plain('b2'), [payer, '5']]],
    ['without that of the first', [second], [plain('b2')]],
  ])('the drop-off of an NTT transfer goes with the message of the first transceiver: messages %s', async (_, emitters, wanted) => {
    expect(await values(emitters)).toEqual(wanted)
  })
})

describe('After the quote has expired', () => {
  const expiry = 2_000_000_000
  const at = (seconds: number, consumed: readonly string[] = []) => endpointOf({ clock: () => seconds * 1_000 }, consumed)
  const both = transferOf([first, second])

  test('no coins leave: a request whose drop-off is due is declined', async () => {
    expect(await at(expiry - 1).validate(both)).toEqual({ kind: 'valid' })
    expect(await at(expiry).validate(both)).toMatchObject({ kind: 'declined', code: 'EXECUTOR_EXPIRED' })
    expect(await endpointOf({ clock: () => expiry * 1_000, honourExpired: true }).validate(both)).toEqual({ kind: 'valid' })
  })

  test('a transfer whose drop-off is paid goes on', async () => {
    expect(await at(expiry, [first]).validate(both)).toEqual({ kind: 'valid' })
  })

  test('a delivery waits only while its gas costs more than the payment', async () => {
    const { earned } = at(expiry).delivery(both, 'receive')
    expect(await earned?.()).toBe(100_000n)
    const inTime = at(expiry - 1).delivery(both, 'receive')
    expect([await inTime.earned?.(), await inTime.earned?.(2_000), await inTime.earned?.(2_001)]).toEqual([undefined, undefined, 100_000n])
  })

  test('the key signs a call without coins, and one with coins only if it was planned in time', async () => {
    const code = async (seconds: number, stage: string) => {
      const endpoint = at(seconds)
      return endpoint.proveCall(await endpoint.delivery(both, stage).call()).then(
        () => 'proved',
        (error) => error.code,
      )
    }
    expect(await Promise.all([code(expiry + 599, 'receive'), code(expiry + 600, 'receive'), code(expiry + 600, 'receive 2')])).toEqual([
      'proved',
      'CALL_UNJUSTIFIED',
      'proved',
    ])
  })
})

describe("A request with another transfer's attestation", () => {
  const own = transferOf([first])
  const foreign = transferOf([], [vaaOf(first, 1n)])

  test("a message with another transfer's attestation is refused before a transfer starts", async () => {
    const verdicts = await Promise.all([transferOf([]), own, foreign].map(({ message }) => endpointOf().verify(decodeBase64(message))))
    expect(foreign.digest).toBe(transferOf([]).digest)
    expect(verdicts.map((verdict) => ('code' in verdict ? [verdict.kind, verdict.code] : verdict.kind))).toEqual([
      'valid',
      ['rejected', 'EXECUTOR_MESSAGE'],
      ['rejected', 'EXECUTOR_MESSAGE'],
    ])
  })

  test('the delivery of another message does not count as the delivery of a request', async () => {
    const endpoint = endpointOf({ executes: true }, [first])
    const shown = (one: Transfer) =>
      Promise.all([
        endpoint.delivered(one, 'latest'),
        endpoint.mayShow?.(one),
        endpoint.stages?.passed(one, 'receive', 'latest'),
        endpoint.stages?.next(one),
      ])
    const due = { kind: 'wait', reason: expect.stringContaining('other transceivers') }
    expect(await shown(own)).toMatchObject([true, true, true, due])
    expect(await shown(foreign)).toMatchObject([false, false, false, { kind: 'wait', reason: 'Its message is not attested.' }])
  })
})
