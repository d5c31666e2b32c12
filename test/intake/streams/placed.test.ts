import { describe, expect, test } from 'vitest'
import type { BlockRange, PlacedSource } from '../../../bridges/port.ts'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { placeOf } from '../../../domain/stream/places.ts'
import type { Transfer } from '../../../domain/transfer/transfer.ts'
import { asBlockSource } from '../../../intake/streams/scanned/placed.ts'
import { unused } from '../../helpers/unused.ts'

const config = { stream: 'messages:a:c', origin: '1/0xcc', first: '0', start: 0, maxOpen: 10, placed: true as const }

function transferAt(height: number, targetChain = 'b'): Transfer {
  const fixed = { bridge: 'messages', sourceChain: 'a', sourceId: '1', emitter: '0'.repeat(64), message: '' }
  return { ...fixed, targetChain, sequence: placeOf(height, 1), digest: `0x${'1'.repeat(64)}` }
}

function placedSource(own: Partial<PlacedSource>) {
  const source = { kind: 'placed' as const, config, bridge: 'messages', sourceChain: 'a', emitter: '0'.repeat(64) }
  const given = { ...source, initiated: unused('initiated'), delivered: unused('delivered'), ...own }
  return asBlockSource(
    given,
    () => 90,
    () => 10,
  )
}

describe('a placed source for the agent', () => {
  test('numbers are looked up by the ranges of blocks that contain them', async () => {
    const asked: BlockRange[] = []
    const { recorded, highest } = placedSource({
      async initiated(range) {
        asked.push(range)
        if (range.toBlock - range.fromBlock > 5) throw new RelayerError('NODES_DISAGREE')
        return [12, 19, 60]
          .filter((height) => height >= range.fromBlock && height <= range.toBlock)
          .map((height) => ({ transfer: transferAt(height), height, txHash: '0x' }))
      },
    })
    const found = await recorded(
      [60, 19, 12, 13].map((height) => placeOf(height, 1)),
      'finalized',
    )
    expect(found).toEqual([transferAt(60), transferAt(19), transferAt(12), undefined])
    expect(asked.toSorted((a, b) => a.fromBlock - b.fromBlock || b.toBlock - a.toBlock)).toEqual([
      { fromBlock: 12, toBlock: 19 },
      { fromBlock: 12, toBlock: 15 },
      { fromBlock: 16, toBlock: 19 },
      { fromBlock: 60, toBlock: 60 },
    ])
    expect(await highest()).toBe('90999999')
  })

  test('the outage of one target does not hide the deliveries on others', async () => {
    const { delivered } = placedSource({
      async delivered(transfers) {
        if (transfers.some(({ targetChain }) => targetChain === 'away')) throw new RelayerError('NODE_UNAVAILABLE')
        return transfers.map(({ sequence }) => sequence === placeOf(2, 1))
      },
    })
    expect(await delivered([transferAt(1), transferAt(2), transferAt(3, 'away')])).toEqual([false, true, undefined])
  })
})
