import { isUnreadable, shortestRecord, type TransferRecord } from './records.ts'

/** From so many characters on, lines are as short as can be: V8 has no string of 2^29, and a text is read and written whole. */
const fullSlice = 100_000_000

/** The records that add to what is archived: those of other runs, and of a run that could not be read, if it can now. */
export function newOnes(archived: readonly TransferRecord[], records: readonly TransferRecord[]): TransferRecord[] {
  const there = new Map<string, boolean>()
  for (const record of archived) there.set(record.runId, isUnreadable(record) && there.get(record.runId) !== false)
  return records.filter((record) => {
    const mayBeBetter = there.get(record.runId)
    return mayBeBetter === undefined || (mayBeBetter && !isUnreadable(record))
  })
}

/**
 * The text of a slice with more lines.
 * @param full characters from which on lines are as short as can be
 */
export function sliceText(lines: readonly string[], added: readonly TransferRecord[], full = fullSlice): string {
  const all = [...lines]
  let length = lines.reduce((sum, line) => sum + line.length, 0)
  for (const record of added) {
    const line = JSON.stringify(record)
    all.push(length + line.length <= full ? line : JSON.stringify(shortestRecord(record)))
    length += all.at(-1)?.length ?? 0
  }
  return `${all.join('\n')}\n`
}
