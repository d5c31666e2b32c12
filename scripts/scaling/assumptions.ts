/** Facts about other systems, and choices. docs/operate/scaling.md names their sources. */
export const assumptions = {
  /** Planned share of a core, a shard or a rate limit. The rest is for peaks and for the time after an outage. */
  plannedShare: 0.6,
  /** A transition commits its events, then its shard (service/history, common/persistence/sql/execution.go). */
  commitsPerTransition: 2,
  /** Time of a commit (ms) of a PostgreSQL with a network disk or a synchronous standby. With local NVMe: 0.1 to 1. */
  commitMs: 2,
  /** Cores of the largest common database server. */
  databaseCores: 64,
  /** Executable transactions of an account in a full pool (go-ethereum's AccountSlots), and a lane's default window. */
  poolSlots: 16,
  /** Blocks from the grant of a nonce to inclusion: the transaction misses one block, and the next includes it. */
  blocksToInclude: 2,
  /** Planned share of a block's gas. With a larger share, Portage's own deliveries would raise the base fee. */
  gasShare: 0.25,
  /** Temporal's default requests per second, for a host and for a namespace (frontend.rps, frontend.namespaceRPS). */
  frontendRequests: 2_400,
  /**
   * Requests for a transfer: its start, two workflow tasks, one step (polled and answered), and its share of a ledger's
   * update.
   */
  requestsPerTransfer: 8,
  /** The retention of docs/operate/deploy/overview.md: `portage setup temporal --retention 72`. */
  retentionDays: 3,
  /** Reads per block for a lane with work: two nonces and a balance. */
  readsPerLanePerBlock: 3,
  /** Transfers in a full batch of a native route. */
  batch: 20,
} as const

export interface ChainKind {
  readonly name: string
  readonly blockMs: number
  readonly blockGas: number
  readonly finalitySeconds: number
}

/** Example chains. Gas limits change. A chain's newest blocks show its current limit (`gasLimit`). */
export const exampleChains: readonly ChainKind[] = [
  { name: 'Ethereum', blockMs: 12_000, blockGas: 60_000_000, finalitySeconds: 900 },
  { name: 'rollup on Ethereum', blockMs: 2_000, blockGas: 100_000_000, finalitySeconds: 1_200 },
  { name: 'fast chain with instant finality', blockMs: 1_000, blockGas: 30_000_000, finalitySeconds: 1 },
]

export function parseChain(text: string): ChainKind {
  const [name = '', ...rest] = text.split(':')
  const [blockMs = 0, blockGas = 0, finalitySeconds = 0] = rest.map(Number)
  if (name === '' || rest.length !== 3 || ![blockMs, blockGas, finalitySeconds].every((one) => Number.isFinite(one) && one > 0))
    throw new Error(`${text} is not name:blockMs:blockGas:finalitySeconds, for example mine:2000:30000000:60`)
  return { name, blockMs, blockGas, finalitySeconds }
}
