/**
 * Figures that no bench of this project measures: facts of others, and choices. docs/operate/scaling.md has the
 * sources.
 */
export const assumptions = {
  /** Of a core, a shard or a rate limit: what is above is for peaks, and for the time after an outage. */
  plannedShare: 0.6,
  /**
   * Temporal writes a transition in two commits: the events, then the shard's transaction (service/history,
   * common/persistence/sql/execution.go).
   */
  commitsPerTransition: 2,
  /** Of a PostgreSQL with its log on a network disk, or with a synchronous standby. Local NVMe: 0.1 to 1. */
  commitMs: 2,
  /** Cores of the largest database server that is easily had. */
  databaseCores: 64,
  /**
   * go-ethereum AccountSlots: executable transactions of one account that a full pool keeps. A lane's default window.
   */
  poolSlots: 16,
  /** From the grant of a nonce to the block that has it: one that is missed, and the next. */
  blocksToInclude: 2,
  /** Of a block's gas: beyond it our own deliveries raise the base fee for themselves. */
  gasShare: 0.25,
  /** Temporal's default of requests per second to a host and a namespace (frontend.rps, frontend.namespaceRPS). */
  frontendRequests: 2_400,
  /**
   * Of one transfer: its start, two workflow tasks, one step polled and answered, and its share of an update of a
   * ledger.
   */
  requestsPerTransfer: 8,
  /** docs/operate/deploy/overview.md: `portage setup temporal --retention 72`. */
  retentionDays: 3,
  /** Reads of a lane with work, per block: two nonces and a balance. */
  readsPerLanePerBlock: 3,
  /** Members of a full batch of a native route. */
  batch: 20,
} as const

/** A target chain, as far as it limits. */
export interface ChainKind {
  readonly name: string
  readonly blockMs: number
  readonly blockGas: number
  /** From a block to its finality. */
  readonly finalitySeconds: number
}

/** Examples: a chain's own values are in its blocks (`gasLimit`), and change. */
export const exampleChains: readonly ChainKind[] = [
  { name: 'Ethereum', blockMs: 12_000, blockGas: 60_000_000, finalitySeconds: 900 },
  { name: 'rollup on Ethereum', blockMs: 2_000, blockGas: 100_000_000, finalitySeconds: 1_200 },
  { name: 'fast, final at once', blockMs: 1_000, blockGas: 30_000_000, finalitySeconds: 1 },
]

/** `name:blockMs:blockGas:finalitySeconds`. Throws Error for anything else. */
export function parseChain(text: string): ChainKind {
  const [name = '', ...rest] = text.split(':')
  const [blockMs = 0, blockGas = 0, finalitySeconds = 0] = rest.map(Number)
  if (name === '' || rest.length !== 3 || ![blockMs, blockGas, finalitySeconds].every((one) => Number.isFinite(one) && one > 0))
    throw new Error(`${text} is not name:blockMs:blockGas:finalitySeconds, for example mine:2000:30000000:60`)
  return { name, blockMs, blockGas, finalitySeconds }
}
