export interface Line {
  readonly level: 'warn' | 'error'
  readonly message: string
  readonly fields: Record<string, unknown>
}

/**
 * Lines with the same level, message and values of these fields are repetitions. Nonces and heights are left out: they
 * nearly always differ.
 */
const identity = [
  ...['code', 'class', 'status', 'field', 'state'],
  ...['chain', 'node', 'lane', 'stream', 'source', 'target', 'contract', 'taskQueue'],
  ...['transfer', 'workflow', 'batch', 'id', 'by', 'address', 'file', 'route'],
  ...['from', 'to', 'numbers', 'bridge', 'receiver', 'place', 'name'],
  // The lowest stream number in a line about several transfers. Another number means other transfers.
  ...['lowest'],
] as const

const mostKinds = 1_000
const [firstMs, longestMs] = [60_000, 600_000] as const

interface Kind {
  count: number
  latest: Line
  since: number
  waitMs: number
}

/** Writes the first line of a kind at once, and its repetitions as one line per interval (1 to 10 minutes). */
export function createRepeatedLines(write: (line: Line) => void) {
  const kinds = new Map<string, Kind>()

  function writeRepetitions(kind: Kind): void {
    const { count, latest, since } = kind
    if (count === 0) return
    Object.assign(kind, { count: 0, since: Date.now() })
    write({ ...latest, fields: { ...latest.fields, repeated: count, since: new Date(since).toISOString() } })
  }

  function lookLater(key: string, kind: Kind): void {
    const look = () => {
      if (kind.count === 0) return void kinds.delete(key)
      writeRepetitions(kind)
      kind.waitMs = Math.min(2 * kind.waitMs, longestMs)
      lookLater(key, kind)
    }
    setTimeout(look, kind.waitMs).unref()
  }

  return {
    say(line: Line): void {
      const key = keyOf(line)
      const kind = kinds.get(key)
      if (kind) {
        kind.count += 1
        kind.latest = line
        return
      }
      write(line)
      if (kinds.size >= mostKinds) return
      const first = { count: 0, latest: line, since: Date.now(), waitMs: firstMs }
      kinds.set(key, first)
      lookLater(key, first)
    },
    flush: () => kinds.forEach(writeRepetitions),
  }
}

function keyOf({ level, message, fields }: Line): string {
  return JSON.stringify([level, message, ...identity.map((name) => fields[name] ?? null)])
}
