import { describe, expect, test } from 'vitest'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { StreamCheckpoint } from '../../../domain/stream/checkpoint.ts'
import { type CheckpointStore, createCheckpointKeeper } from '../../../intake/streams/checkpoints.ts'
import type { AgentAlarm } from '../../../intake/streams/stream-metrics.ts'
import { createScannedBootstrap } from '../../../intake/streams/scanned/bootstrap.ts'
import { createBlockScanner } from '../../../intake/streams/scanned/scan-blocks.ts'
import { fakeChain, fakeContext, fakeStream } from './fake-context.ts'
import { silentLogger } from '../../../observability/logger.ts'

const config = { stream: 'native-bridge:a:b', origin: '1/0xaa', first: '1', start: 0, maxOpen: 10 }
const logger = silentLogger()

/** `kept`: the stored checkpoint, or the error of reading it. `last`: highest block that the source does not deny. */
function network(kept: StreamCheckpoint | RelayerError | undefined, highest?: string, last = 100) {
  const alarms = new Set<AgentAlarm>()
  const read = async () => {
    if (kept instanceof RelayerError) throw kept
    return kept
  }
  const store: CheckpointStore = { read, write: async () => {} }
  const keeper = createCheckpointKeeper(config, store, alarms, logger)
  const sourceChain = { denies: async ({ height }: { height: number }) => height > last }
  const { begin } = createScannedBootstrap({ source: { config, highest: async () => highest }, sourceChain, logger }, keeper)
  return { alarms, begin }
}

const good: StreamCheckpoint = {
  version: 1,
  stream: config.stream,
  origin: config.origin,
  completedNumber: '7',
  completedHeight: 40,
  cursor: { height: 50, hash: '0x50' },
  exceptions: [],
}

describe('where the stream of a native bridge begins', () => {
  test('a stream begins with its checkpoint if the source has its block and its number', async () => {
    const { begin, alarms } = network(good, '7')
    expect([await begin(), [...alarms]]).toEqual([{ config, checkpoint: good }, []])
    expect(await network(good, '9').begin()).toEqual({ config, checkpoint: good })
  })

  test.each([
    ['of another contract', { ...good, origin: '1/0xbb' }, '7', 100],
    ['of another network', { ...good, origin: '5/0xaa' }, '7', 100],
    ['of a block that the source denies', good, '7', 49],
    ['without a block', (({ cursor: _, ...rest }) => rest)(good), '7', 100],
    ['that cannot be read', new RelayerError('CHECKPOINT_INVALID'), '7', 100],
    ['that is out of reach', new RelayerError('CHECKPOINT_UNAVAILABLE'), '7', 100],
  ])('a stream ignores a checkpoint %s, and the log says so', async (_, kept, highest, last) => {
    const { begin, alarms } = network(kept, highest, last)
    expect([await begin(), [...alarms]]).toEqual([{ config }, ['checkpoint']])
  })

  test.each([['6'], [undefined]])(
    'a checkpoint above the count %s of the source is not used, and the stream raises an alarm',
    async (highest) => {
      const { begin, alarms } = network(good, highest)
      expect(await begin()).toEqual({ config, distrusted: { number: '7', height: 40, by: 'checkpoint' } })
      expect([...alarms]).toEqual(['checkpoint'])
    },
  )

  test('the block of the checkpoint is checked again after the first range, whichever process read it', async () => {
    let asked = 0
    const { streamClient } = fakeStream(config)
    await streamClient.apply([
      { kind: 'completed', numbers: [], from: 1, to: 1 },
      { kind: 'scanned', from: 50, to: 50, parentHash: '0x49', hash: '0x50', numbers: [], passed: [] },
    ])
    const context = fakeContext(config, { streamClient, sourceChain: fakeChain(50) })
    expect(await createBlockScanner(context, async () => void asked++)()).toBe(false)
    expect(asked).toBe(1)
  })
})

describe('where a placed stream without a first block begins', () => {
  const placed = { stream: 'messages:a:c', origin: '1/0xcc', first: '0', maxOpen: 10, placed: true as const }
  const kept = { ...good, stream: placed.stream, origin: placed.origin, completedNumber: '40999999' }
  const begin = (found: StreamCheckpoint | RelayerError | undefined, lookBack: number, last = 100) => {
    const read = async () => {
      if (found instanceof RelayerError) throw found
      return found
    }
    const sourceChain = { denies: async ({ height }: { height: number }) => height > last }
    const source = { config: placed, highest: async () => '99999999' }
    const bootstrap = createScannedBootstrap({ source, sourceChain, logger }, { read, complain: () => {} }, async () => lookBack)
    return bootstrap.begin()
  }

  test('a placed stream begins with the look-back, or a checkpoint that leaves out no block between the two', async () => {
    expect(await begin(undefined, 70)).toEqual({ config: { ...placed, start: 70 } })
    expect(await begin(kept, 70)).toEqual({ config: { ...placed, start: 41 }, checkpoint: kept })
    expect(await begin(kept, 20)).toEqual({ config: { ...placed, start: 20 }, checkpoint: kept })
    expect(await begin(kept, 70, 49)).toEqual({ config: { ...placed, start: 70 } })
  })

  test('a placed stream does not begin while its checkpoint cannot be read, which could leave out old blocks', async () => {
    await expect(begin(new RelayerError('CHECKPOINT_UNAVAILABLE'), 70)).rejects.toMatchObject({ code: 'CHECKPOINT_UNAVAILABLE' })
  })
})
