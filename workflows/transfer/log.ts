import { isOutcome, type Transfer, type TransferState } from '../../domain/transfer/transfer.ts'
import type { TransferProgress } from '../../temporal/contracts/transfer.ts'
import { log } from '@temporalio/workflow'

/** What a line says of a state beside the transfer. */
interface About {
  readonly code?: string | undefined
  readonly reason?: string | undefined
  readonly txHash?: string | undefined
  readonly lane?: string | undefined
  /** From when it was seen until it ended, ms. */
  readonly tookMs?: number | undefined
}

/**
 * The log lines of a transfer: one when it starts, waits for something else than before, is parked, and ends. Through the SDK's sink: they are no command, a replay
 * prints none, and the process adds the remedy of the code (workers/telemetry/sdk-lines.ts).
 */
export class TransferLog {
  readonly #ids: Readonly<Record<string, string>>
  /** For what it waits, as the last line said. */
  #waitsFor: string | undefined

  /** @param progress of an earlier run, which has said what it waits for */
  constructor(id: string, { bridge, sourceChain, targetChain, sequence }: Transfer, progress: TransferProgress | undefined) {
    this.#ids = { transfer: id, bridge, source: sourceChain, target: targetChain, sequence }
    this.#waitsFor = progress?.state === 'waiting' ? progress.code : undefined
    if (!progress) log.info('transfer started', this.#ids)
  }

  /** Says the states that a person may look for; the steps between are in the timeline. */
  entered(state: TransferState, { code, lane, reason, txHash, tookMs }: About): void {
    const about = { ...this.#ids, ...known({ lane, code, reason, txHash }) }
    if (state === 'parked') log.warn('transfer parked', about)
    else if (isOutcome(state)) log.info(`transfer ${state}`, { ...about, ...known({ tookMs }) })
    else if (state === 'waiting' && this.#waitsFor !== code) log.info('transfer waits', about)
    if (state === 'waiting') this.#waitsFor = code
    else if (state === 'broadcasting' || state === 'parked') this.#waitsFor = undefined
  }
}

function known(about: About): About {
  return Object.fromEntries(Object.entries(about).filter(([, value]) => value !== undefined))
}
