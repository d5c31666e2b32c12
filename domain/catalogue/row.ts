export interface Row {
  readonly title: string
  readonly remedy: string
  readonly meaning?: string
}

export interface ErrorRow extends Row {
  readonly retriable: boolean
  /** The message's signatures have expired. A copy with newer signatures may replace the message. */
  readonly awaitNewSignatures?: true
  /** Only this transfer waits, not its route. */
  readonly waitsForItself?: true
  /** The reason usually passes within minutes, so its transfers try again each minute, unless `retryInMs` is longer. */
  readonly passesSoon?: true
  /** Portage halts the route if most nodes show that its contracts contradict each other. */
  readonly haltRoute?: true
  /** Portage, or a service that Portage needs, does not work. The error is logged as a warning. */
  readonly isOutage?: true
}

export const severities = {
  everything: 'All work has stopped',
  chain: 'A chain or a route waits',
  lane: 'A lane waits',
  transfers: 'Some transfers wait',
  intake: 'New transfers are delayed',
  notifications: 'A receiver of notifications waits',
  node: 'A node is not used',
  unexplained: 'Transfers that no other cause explains',
  note: 'Notes: nothing waits',
} as const

export type Severity = keyof typeof severities

export interface CauseRow extends Row {
  /** `portage stuck` also shows notes, but a note is not a fault: with notes alone, the exit code is 0. */
  readonly severity: Severity
  readonly does: string
  /** Commands to run next. Each `<name>` is replaced by the value with this name in `CauseValues`. */
  readonly next: readonly string[]
}

export type CatalogueRow = Row & Partial<ErrorRow & CauseRow>

export function row(title: string, remedy: string): Row {
  return { title, remedy }
}

/** An error that a retry can cure: Temporal retries the step until it succeeds. */
export function retry(title: string, remedy: string, facts: Pick<ErrorRow, 'waitsForItself' | 'passesSoon' | 'isOutage'> = {}): ErrorRow {
  return { title, remedy, retriable: true, ...facts }
}

export function retryAlone(title: string, remedy: string, facts: Pick<ErrorRow, 'passesSoon'> = {}): ErrorRow {
  return retry(title, remedy, { ...facts, waitsForItself: true })
}

export function outage(title: string, remedy: string, facts: Pick<ErrorRow, 'waitsForItself' | 'passesSoon'> = {}): ErrorRow {
  return retry(title, remedy, { ...facts, isOutage: true })
}

/** An error that no retry can cure, so it may park the transfer. */
export function fatal(
  title: string,
  remedy: string,
  facts: Omit<ErrorRow, keyof Row | 'retriable' | 'waitsForItself' | 'passesSoon'> = {},
): ErrorRow {
  return { title, remedy, retriable: false, ...facts }
}

export function cause(severity: Severity, does: string, next: readonly string[], meaning?: string): Omit<CauseRow, 'title' | 'remedy'> {
  return { severity, does, next, ...(meaning !== undefined && { meaning }) }
}

export const commands = {
  reason: '--reason "<text>"',
  show: 'portage transfer show <id>',
  retry: 'portage transfer retry <id> --reason "<text>"',
  showLane: 'portage lane show <lane>',
  listLanes: 'portage lane list',
  activate: 'portage lane activate <lane> --reason "<text>"',
  nodes: 'portage node list --chain <chain>',
  showStream: 'portage stream show <stream>',
  audit: 'portage stream audit <stream>',
  fees: 'portage fees show',
  raiseFee: 'portage fees set --scope chain:<chain> --max-fee-per-gas <fee> --reason "<text>"',
  doctor: 'portage doctor',
  promote: 'portage deploy promote <version> --reason "<text>"',
} as const

export const does = {
  otherLanes: 'Transfers without a nonce go to other lanes of the chain. If no lane of the chain takes work, these transfers wait.',
  keeps: 'All waiting work continues within seconds of the repair.',
  rechecks: 'The transfers wait without a nonce until the cause is gone, and then continue by themselves.',
} as const
