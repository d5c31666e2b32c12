import { isOutcome, type Transfer, type TransferState } from '../../domain/transfer/transfer.ts'
import type { TransferProgress } from '../../temporal/contracts/transfer.ts'
import { log } from '@temporalio/workflow'

interface About {
  readonly code?: string | undefined
  readonly reason?: string | undefined
  readonly txHash?: string | undefined
  readonly lane?: string | undefined
  /** Since the message was seen, ms. */
  readonly tookMs?: number | undefined
}

/** Logs through the SDK's sink: no command, and nothing in a replay. workers/telemetry adds the remedy. */
export class TransferLog {
  readonly #ids: Readonly<Record<string, string>>
  #waitsFor: string | undefined

  /** `progress`: of an earlier run, which has logged the start. */
  constructor(id: string, { bridge, sourceChain, targetChain, sequence }: Transfer, progress: TransferProgress | undefined) {
    this.#ids = { transfer: id, bridge, source: sourceChain, target: targetChain, sequence }
    this.#waitsFor = progress?.state === 'waiting' ? progress.code : undefined
    if (!progress) log.info('transfer started', this.#ids)
  }

  /** Only states that people search for. The timeline has the others. */
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
