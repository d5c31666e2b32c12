import { z } from 'zod'

const number = z.number().nonnegative()
const byProcess = z.record(z.string(), number)
const spread = z.object({ median: number })
const spreads = z.record(z.string(), spread)
const machine = z.object({ cpus: number, model: z.string(), load: z.array(number) })
/** Commit of the measured code, which the bench does not know. */
const commit = z.string().optional()

/** Output of `npm run bench -- --json`: a backlog of Wormhole transfers. */
const throughput = z.object({
  commit,
  ...{ form: z.string(), transfers: number, rounds: number, keys: number, machine, delivered: number, of: number },
  portage: z.object({
    sustainedPerSecond: spread,
    cpuMsByProcess: spreads,
    cpuMsByThread: spreads,
    rssPeakMiB: byProcess,
    ...{ stateTransitions: number, historyEvents: number },
    rpcCalls: z.object({ byMethod: byProcess }),
    ...{ historyBytes: number.optional(), gasPerTransaction: number.optional() },
  }),
})

/** Output of `npm run bench -- --outage N --json`: native transfers, alone or (`--batch`) in batches. */
const outage = z.object({
  commit,
  ...{ transfers: number, batch: number.optional(), deliveringTransactions: number, machine },
  ...{ stateTransitionsPerTransfer: number, allStateTransitionsPerTransfer: number },
  rpcCalls: z.object({ perQuietBlock: number }),
  gasPerTransaction: number.optional(),
})

/** Output of `npm run bench -- --floor --json`: the cost of a one-activity workflow on each Temporal server. */
const floor = z.object({
  commit,
  machine,
  servers: z.array(z.object({ server: z.string(), oneActivity: z.object({ stateTransitions: number, cpuMsByProcess: spreads }) })).min(1),
})

const parts = z.strictObject({
  throughput,
  /** Like `throughput`, but with few transfers: bytes and gas are right, rates and CPU times are not. */
  sizes: throughput,
  outage,
  nativeSizes: outage,
  batched: outage,
  floor,
})

export type Figures = z.infer<typeof parts>
type Part = keyof Figures

/** A run with fewer transfers ends before its rate is steady. */
const leastForRates = 500

function partOf(json: unknown): Part {
  const has = (key: string) => typeof json === 'object' && json !== null && key in json
  if (has('oneActivity') && has('portage')) return throughput.parse(json).transfers < leastForRates ? 'sizes' : 'throughput'
  if (has('allStateTransitionsPerTransfer')) {
    if (has('batch')) return 'batched'
    return outage.parse(json).transfers < leastForRates ? 'nativeSizes' : 'outage'
  }
  if (has('servers')) return 'floor'
  throw new Error('not a JSON of npm run bench: it has none of portage, allStateTransitionsPerTransfer and servers')
}

/**
 * Merges new figures into the kept ones. `commit`: commit of the code that the new figures measured. Throws Error for a
 * file that the bench did not write, or if a part is missing.
 */
export function mergeFigures(kept: unknown, added: readonly unknown[], commit?: string): Figures {
  const merged: Record<string, unknown> = { ...(kept as object | undefined) }
  for (const one of added) merged[partOf(one)] = { ...(one as object), ...(commit !== undefined && { commit }) }
  const read = parts.safeParse(merged)
  if (!read.success) throw new Error(`these figures do not do: ${z.prettifyError(read.error)}`)
  return read.data
}
