import { describe, expect, test } from 'vitest'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { Transfer } from '../../../domain/transfer/transfer.ts'
import { startAgain, startAll } from '../../../intake/streams/scanned/transfers.ts'
import { createStreamCache } from '../../../intake/streams/scanned/stream-cache.ts'
import { contentMemo } from '../../../temporal/client/transfers/transfer-list.ts'
import { transferId } from '../../../temporal/contracts/names.ts'
import { recordingLogger } from '../../helpers/recording-logger.ts'
import { codeOfAsync } from '../../helpers/refusals.ts'
import { type EndedRun, temporalWith } from './ended-runs.ts'
import { listingClient } from './listing-client.ts'

const transfers = [1, 2, 3].map((number): Transfer => ({
  ...{ bridge: 'native-bridge', sourceChain: 'a', sourceId: 'a', targetChain: 'b', emitter: '33'.padStart(64, '0') },
  ...{ sequence: String(number), digest: `0x${String(number).padStart(64, '0')}`, message: Buffer.from(String(number)).toString('base64') },
}))

function network() {
  const ended = new Map<string, EndedRun>()
  const failing = new Map<string, RelayerError>()
  const submitted: string[] = []
  const listeners = new Map<string, () => void>()
  const cache = createStreamCache()
  const submitter = {
    async submit(_: string, message: Uint8Array) {
      const number = Buffer.from(message).toString()
      submitted.push(number)
      listeners.get(number)?.()
      const error = failing.get(number)
      if (error) throw error
      return { id: number, status: ended.has(number) ? ('known' as const) : ('started' as const) }
    },
  }
  /** An attested message begins with the message of the source. */
  const decode = (message: Uint8Array) => {
    const [number] = Buffer.from(message).toString().split(' attested')
    const transfer = transfers.find(({ sequence }) => sequence === number)
    if (!transfer) throw new RelayerError('NATIVE_MESSAGE')
    return transfer
  }
  const streamClient = { era: 0 }
  const stopping = new AbortController().signal
  const { logger, lines } = recordingLogger()
  const context = { client: temporalWith(ended), submitter, decode, cache, stopping, streamClient, logger }
  const start = () => startAll(context, transfers)
  const again = (transfer: Transfer) => startAgain(context, transfer)
  const onSubmit = (number: string, listener: () => void) => void listeners.set(number, listener)
  return { context, start, again, ended, failing, cache, lines, streamClient, onSubmit, taken: () => submitted.splice(0) }
}

describe('the transfers of a range', () => {
  test('only the transfer that failed to start is tried again', async () => {
    const { start, failing, cache, taken } = network()
    failing.set('2', new RelayerError('TEMPORAL_UNAVAILABLE'))
    expect(await codeOfAsync(start)).toBe('TEMPORAL_UNAVAILABLE')
    expect([taken(), cache.transfer('1')]).toEqual([['1', '2', '3'], undefined])
    expect(await codeOfAsync(start)).toBe('TEMPORAL_UNAVAILABLE')
    expect(taken()).toEqual(['2'])
    failing.clear()
    await start()
    expect([taken(), cache.transfer('1')]).toEqual([['2'], transfers[0]])
  })

  test('a message that is too large delays no other message, and the log names it', async () => {
    const { start, failing, taken, lines } = network()
    failing.set('2', new RelayerError('MESSAGE_TOO_LARGE'))
    await start()
    expect(taken()).toEqual(['1', '2', '3'])
    expect(lines).toMatchObject([{ level: 'error', code: 'MESSAGE_TOO_LARGE', transfer: expect.stringContaining(':2:') }])
  })

  test('a transfer that ended undelivered before is closed at once, and one that was delivered is not', async () => {
    const { start, ended } = network()
    ended.set('1', { state: 'delivered' })
    ended.set('3', { state: 'declined', reason: 'the fee is too low' })
    expect(await start()).toEqual([{ kind: 'closed', number: '3', outcome: 'declined', reason: 'the fee is too low' }])
  })

  test('an ended transfer is closed at the next try too, if another one fails to start at first', async () => {
    const { start, ended, failing } = network()
    ended.set('1', { state: 'declined', reason: 'the fee is too low' })
    failing.set('2', new RelayerError('TEMPORAL_UNAVAILABLE'))
    await codeOfAsync(start)
    failing.clear()
    expect(await start()).toMatchObject([{ kind: 'closed', number: '1' }])
  })

  test('if a second read of a block shows another message, the range is read again, and none is started', async () => {
    const { start, failing, taken } = network()
    failing.set('2', new RelayerError('PLACE_MISMATCH'))
    expect(await codeOfAsync(start)).toBe('PLACE_MISMATCH')
    failing.clear()
    expect([taken(), await start(), taken()]).toEqual([['1', '2', '3'], [], ['2']])
  })

  test.each(['CCTP_CALLER', 'PAYLOAD_KIND', 'TARGET_CHAIN_UNSUPPORTED'] as const)(
    'a message that is refused for good with %s leaves the window, and delays no other message',
    async (code) => {
      const { start, again, failing, taken, lines } = network()
      failing.set('2', new RelayerError(code))
      const outside = [{ kind: 'parked', number: '2', code, waits: true }]
      expect(await start()).toEqual(outside)
      expect(taken()).toEqual(['1', '2', '3'])
      expect(lines).toMatchObject([{ level: 'error', code, transfer: expect.stringContaining(':2:') }])
      expect(await again(transfers[1]!)).toEqual(outside)
    },
  )

  test('all transfers of a range that is read again are submitted', async () => {
    const { start, taken } = network()
    await start()
    await start()
    expect(taken()).toEqual(['1', '2', '3', '1', '2', '3'])
  })

  test('all transfers are submitted again after a fork of the source', async () => {
    const { start, failing, cache, taken } = network()
    failing.set('2', new RelayerError('TEMPORAL_UNAVAILABLE'))
    await codeOfAsync(start)
    cache.forget(0)
    failing.clear()
    taken()
    await start()
    expect(taken()).toEqual(['1', '2', '3'])
  })

  test('all transfers are submitted again after the stream went back', async () => {
    const { start, failing, streamClient, taken } = network()
    failing.set('2', new RelayerError('TEMPORAL_UNAVAILABLE'))
    await codeOfAsync(start)
    streamClient.era += 1
    await codeOfAsync(start)
    expect(taken()).toEqual(['1', '2', '3', '1', '2', '3'])
    await codeOfAsync(start)
    expect(taken()).toEqual(['2'])
  })

  test('transfers are submitted again if the stream went back while they were started', async () => {
    const { start, failing, streamClient, taken, onSubmit } = network()
    failing.set('2', new RelayerError('TEMPORAL_UNAVAILABLE'))
    onSubmit('3', () => void (streamClient.era += 1))
    await codeOfAsync(start)
    taken()
    await codeOfAsync(start)
    expect(taken()).toContain('3')
  })

  test('a transfer that Temporal lost is submitted again soon after its start', async () => {
    const { start, again, failing, taken } = network()
    failing.set('2', new RelayerError('TEMPORAL_UNAVAILABLE'))
    await codeOfAsync(start)
    taken()
    for (const transfer of transfers.slice(0, 1)) await again(transfer)
    expect(taken()).toEqual(['1'])
  })

  const ofSubmission = { terms: { maxFeePerGas: '9' }, startedUnder: { routes: '0x1', at: 5 } }

  async function startedAgain(change: Partial<Transfer> | undefined): Promise<{ own: Transfer; started: unknown[] }> {
    const [own] = transfers
    if (!own) throw new Error('no transfer')
    const stored = { ...own, ...change, ...ofSubmission }
    const input = () => ({ transfer: change && stored })
    const run = { id: transferId(own), state: 'delivered', ended: true, input, content: { amount: '5' } } as const
    const { client } = listingClient([run])
    const started: unknown[] = []
    Object.defineProperty(client.workflow, 'start', {
      value: async (type: string, { args, memo }: { args: unknown[]; memo: Record<string, unknown> }) =>
        void started.push([type, ...args, memo[contentMemo]]),
    })
    await startAgain({ ...network().context, client }, own)
    return { own, started }
  }

  test('if a run ended delivered with another message, the stream starts it again with its own message', async () => {
    const { own, started } = await startedAgain({ message: Buffer.from('forged').toString('base64') })
    expect(started).toEqual([
      ['reversal', expect.anything(), {}],
      ['transfer', { transfer: own, priority: undefined }, {}],
    ])
  })

  test('a run of a stranger without a transfer is started again with the message of the source', async () => {
    const { own, started } = await startedAgain(undefined)
    expect(started).toMatchObject([
      ['reversal', {}, {}],
      ['transfer', { transfer: own }, {}],
    ])
  })

  test.each([
    ['its own message', {}],
    ['an attested message', { message: Buffer.from('1 attested').toString('base64') }],
  ])('a run that ended delivered with %s is started again with what its submission added', async (_, change) => {
    const { own, started } = await startedAgain(change)
    expect(started).toMatchObject([
      ['reversal', {}, {}],
      ['transfer', { transfer: { ...own, ...ofSubmission } }, { amount: '5' }],
    ])
  })

  test('a contradiction with the table is thrown before other failures', async () => {
    const { start, failing, taken } = network()
    failing.set('1', new RelayerError('TEMPORAL_UNAVAILABLE'))
    failing.set('3', new RelayerError('NATIVE_ID_MISMATCH'))
    const contradiction = await codeOfAsync(start)
    expect([contradiction, taken()]).toEqual(['NATIVE_ID_MISMATCH', ['1', '2', '3']])
  })
})
