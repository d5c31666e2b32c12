import type { AccessLevel } from '../../domain/access.ts'

/** What can be ordered, and what it needs. Named as the command is; `api` is the route that does the same. Everything that is not here is a read. */
interface OperationRow {
  readonly level: AccessLevel
  readonly api?: string
}

/**
 * The one table of levels, for the API and for the command line (docs/operate/access.md shows it). write: what becomes of transfers. sign: what makes a key sign, stops
 * it, or drops a number of a stream. admin: what holds for everything, and tokens.
 */
export const operations = {
  'transfer submit': { level: 'write', api: 'POST /v1/transfers' },
  'transfer retry': { level: 'write', api: 'POST /v1/transfers/{id}/retry' },
  'transfer cancel': { level: 'write', api: 'POST /v1/transfers/{id}/cancel' },
  'transfer expedite': { level: 'write', api: 'POST /v1/transfers/{id}/expedite' },
  'stream audit': { level: 'write', api: 'POST /v1/streams/{stream}/audit' },
  'stream backfill': { level: 'write', api: 'POST /v1/streams/{stream}/backfill' },
  'stream unskip': { level: 'write', api: 'POST /v1/streams/{stream}/unskip' },
  'stream checkpoint write': { level: 'write', api: 'POST /v1/streams/{stream}/checkpoint' },
  'audit run': { level: 'write', api: 'POST /v1/audits' },
  'lane pause': { level: 'sign', api: 'POST /v1/lanes/{lane}/pause' },
  'lane resume': { level: 'sign', api: 'POST /v1/lanes/{lane}/resume' },
  'lane drain': { level: 'sign', api: 'POST /v1/lanes/{lane}/drain' },
  'lane forbid': { level: 'sign', api: 'POST /v1/lanes/{lane}/forbid' },
  'lane activate': { level: 'sign', api: 'POST /v1/lanes/{lane}/activate' },
  'lane resync': { level: 'sign', api: 'POST /v1/lanes/{lane}/resync' },
  'lane fill': { level: 'sign', api: 'POST /v1/lanes/{lane}/fill' },
  'lane cancel-nonce': { level: 'sign', api: 'POST /v1/lanes/{lane}/cancel-nonce' },
  'lane replace': { level: 'sign', api: 'POST /v1/lanes/{lane}/replace' },
  'lane republish': { level: 'sign', api: 'POST /v1/lanes/{lane}/republish' },
  'lane set-window': { level: 'sign', api: 'POST /v1/lanes/{lane}/set-window' },
  'lane reset': { level: 'sign', api: 'POST /v1/lanes/{lane}/reset' },
  'lane send': { level: 'sign', api: 'POST /v1/lanes/{lane}/send' },
  'lane sweep': { level: 'sign', api: 'POST /v1/lanes/{lane}/sweep' },
  'lane top-up': { level: 'sign', api: 'POST /v1/lanes/{lane}/top-up' },
  'lane cancel-transaction': { level: 'sign', api: 'POST /v1/transactions/{id}/cancel' },
  'stream skip': { level: 'sign', api: 'POST /v1/streams/{stream}/skip' },
  'stream pause': { level: 'sign', api: 'POST /v1/streams/{stream}/pause' },
  'stream resume': { level: 'sign', api: 'POST /v1/streams/{stream}/resume' },
  'stream reread': { level: 'sign', api: 'POST /v1/streams/{stream}/reread' },
  'stream trust': { level: 'sign', api: 'POST /v1/streams/{stream}/trust' },
  'stream set-max-open': { level: 'sign', api: 'POST /v1/streams/{stream}/set-max-open' },
  halt: { level: 'admin', api: 'POST /v1/settings' },
  unhalt: { level: 'admin', api: 'POST /v1/settings' },
  deny: { level: 'admin', api: 'POST /v1/settings' },
  allow: { level: 'admin', api: 'POST /v1/settings' },
  'fees set': { level: 'admin', api: 'POST /v1/settings' },
  'fees clear': { level: 'admin', api: 'POST /v1/settings' },
  'node add': { level: 'admin', api: 'POST /v1/settings' },
  'node remove': { level: 'admin', api: 'POST /v1/settings' },
  'node enable': { level: 'admin', api: 'POST /v1/settings' },
  'node disable': { level: 'admin', api: 'POST /v1/settings' },
  'deploy promote': { level: 'admin' },
  'settings import': { level: 'admin', api: 'POST /v1/settings' },
  'notifications test': { level: 'admin', api: 'POST /v1/notifications/{receiver}/test' },
  'notifications replay': { level: 'admin', api: 'POST /v1/notifications/{receiver}/replay' },
  'notifications disable': { level: 'admin', api: 'POST /v1/notifications/{receiver}/disable' },
  'notifications enable': { level: 'admin', api: 'POST /v1/notifications/{receiver}/enable' },
  'token create': { level: 'admin' },
  'token revoke': { level: 'admin', api: 'POST /v1/settings' },
  'token rotate-key': { level: 'admin' },
  'token remove-key': { level: 'admin' },
} as const satisfies Record<string, OperationRow>

export type Operation = keyof typeof operations

/** The row of a command's name; undefined for a read. */
export function operationOf(name: string): Operation | undefined {
  return Object.hasOwn(operations, name) ? (name as Operation) : undefined
}
