import type { CredentialSource } from '../temporal-access.ts'
import type { NotificationFilter } from './notification.ts'

/** Who is told of what, as the config says. */
export interface Receiver {
  readonly name: string
  /** Its path and query may be a secret: only the origin is ever shown. */
  readonly url: string
  /** Each signs; the receiver takes the one that it knows. `whsec_` and base64. */
  readonly secrets: readonly CredentialSource[]
  readonly filter: NotificationFilter
}
