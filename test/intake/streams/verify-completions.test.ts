import { describe, expect, test } from 'vitest'
import type { SubmitOptions } from '../../../intake/submit/submitter.ts'
import type { Transfer } from '../../../domain/transfer/transfer.ts'
import { createBlockScanner } from '../../../intake/streams/scanned/scan-blocks.ts'
import { createCompletionVerifier } from '../../../intake/streams/scanned/follow-completions.ts'
import { fakeChain, fakeContext, fakeSource, fakeStream } from './fake-context.ts'

const config = { stream: 'native-bridge:a:b', origin: '1/0xaa', first: '1', start: 50, maxOpen: 10 }
const transfer: Transfer = {
  bridge: 'native-bridge',
  sourceChain: 'a',
  sourceId: 'a',
  targetChain: 'b',
  emitter: '0'.repeat(64),
  sequence: '1',
  digest: `0x${'1'.repeat(64)}`,
  message: '',
}

/** A stream whose target completes number 1 while the transfer of this number is being started. */
function network() {
  const { streamClient } = fakeStream(config)
  let shown = false
  const hashes: (string | undefined)[] = []
  const source = fakeSource(config, {
    initiated: async () => [{ transfer, height: 50, txHash: '0x50' }],
    delivered: async (transfers) => transfers.map(() => shown),
    recorded: async (numbers) => numbers.map(() => transfer),
  })
  const submitter = {
    submit: async (_bridge: string, _message: Uint8Array, { sourceTxHash }: SubmitOptions = {}) => {
      hashes.push(sourceTxHash)
      await streamClient.apply([{ kind: 'completed', numbers: [['1', '1']], from: 2, to: 2 }])
      return { id: 'it', status: 'started' as const }
    },
  }
  const block = async (height: number) => ({ height, hash: `h${height}`, parentHash: `h${height - 1}`, timestamp: 0 })
  const sourceChain = fakeChain(50, { block })
  const context = fakeContext(config, { streamClient, source, submitter, sourceChain, route: { source, target: fakeChain(1) } })
  return { context, streamClient, scan: createBlockScanner(context, async () => {}), hashes, show: () => (shown = true) }
}

describe('a completion that is seen before its number', () => {
  test('an early completion resolves its number once the number is known', async () => {
    const { context, streamClient, scan, show, hashes } = network()
    const verify = createCompletionVerifier(context)
    expect(await verify()).toBe(false)
    await scan()
    expect(hashes).toEqual(['0x50'])
    expect(streamClient.view).toMatchObject({ open: 1, toVerify: 1, alarms: [], counts: { unknown: 1, completed: 0 } })
    show()
    await verify()
    expect(streamClient.view).toMatchObject({ open: 0, toVerify: 0, completedNumber: '1', counts: { completed: 1 } })
    expect(context.cache.completions).toEqual([transfer])
  })

  test('an early completion resolves nothing until the target shows its id', async () => {
    const { context, streamClient, scan, show } = network()
    const verify = createCompletionVerifier(context)
    await scan()
    await verify()
    expect(streamClient.view).toMatchObject({ open: 1, toVerify: 1 })
    show()
    // The verifier asks less and less often, so it does not read now.
    await verify()
    expect(streamClient.view).toMatchObject({ open: 1, toVerify: 1 })
    // A new verifier reads immediately.
    await createCompletionVerifier(context)()
    expect(streamClient.view).toMatchObject({ open: 0, toVerify: 0, completedNumber: '1' })
  })
})
