import type { CredentialSource } from '../temporal-access.ts'
import type { NotificationFilter } from './notification.ts'

/** A receiver of the config. */
export interface Receiver {
  readonly name: string
  /** Only the origin may be shown: path and query may be secret. */
  readonly url: string
  /** Every secret signs, and the receiver checks the one it knows. `whsec_` and base64. */
  readonly secrets: readonly CredentialSource[]
  readonly filter: NotificationFilter
}
