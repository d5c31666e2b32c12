import type { Intent } from '../domain/intent.ts'
import { createHash } from 'node:crypto'

/** Identifies a call in the ledger: sha256 over its three fields. */
export function callHash({ to, value, data }: Intent): string {
  return `0x${createHash('sha256').update(`${to}|${value}|${data}`).digest('hex')}`
}
