import type { Transfer } from '../../domain/transfer/transfer.ts'

/** A native transfer from ethereum to bsc. Each number has its own digest. */
export function nativeTransfer(sequence = 1, own: Partial<Transfer> = {}): Transfer {
  return {
    bridge: 'native-bridge',
    sourceChain: 'ethereum',
    sourceId: own.sourceChain ?? 'ethereum',
    targetChain: 'bsc',
    emitter: '00'.repeat(32),
    sequence: String(sequence),
    digest: `0x${String(sequence).padStart(64, '0')}`,
    message: '',
    ...own,
  }
}
