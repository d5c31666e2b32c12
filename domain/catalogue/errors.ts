import { apiErrors } from './api-errors.ts'
import { type CatalogueEntry, fatal, retry } from './error-entry.ts'
import { encryptionErrors } from './encryption-errors.ts'
import { messageErrors } from './message-errors.ts'

/** The code of an error decides whether a retry can help: a wrong `retry` costs an endless one, a wrong `fatal` parks a transfer that would have healed. */
export const errorCatalogue = {
  ...messageErrors,
  // Valid messages that the policy refuses: declined, and decided again at a retry.
  PAYLOAD_WITH_CALL: fatal(
    'A payload 3 transfer can only be redeemed by its recipient contract.',
    'Configure the call that delivers it for that recipient contract.',
  ),
  TARGET_CHAIN_UNSUPPORTED: fatal('No chain with this Wormhole id is configured.', 'Add the chain to the config, or ignore this transfer.'),
  ASSET_UNSUPPORTED: fatal('The origin token is not in the allow-list.', 'Add the token to the allow-list of the bridge.'),
  FEE_NOT_CONFIGURED: fatal(
    'No fee is configured for this token, and its route is not delivered free.',
    'Add the token to minimumFees of the bridge, or name the route in its freeRoutes; or redeem by hand.',
  ),
  AMOUNT_TOO_SMALL: fatal(
    'The amount is below the configured minimum of the route.',
    'Lower minimumAmount of the route and portage transfer retry, or complete it by hand.',
  ),
  FEE_TOO_LOW: fatal(
    'The fee is below the configured minimum.',
    'Lower the minimum fee for this target chain and token, or redeem by hand.',
  ),
  RECIPIENT_DENIED: fatal('The recipient is on the deny-list.', 'portage allow recipient …, then portage transfer retry.'),
  TOKEN_DENIED: fatal('The token is on the deny-list.', 'portage allow token …, then portage transfer retry.'),
  LANE_NONE: retry('No lane of the target chain accepts work.', 'Resume or activate a lane, or add a key for this chain.'),
  // Waits: nothing is wrong with the transfer; the chain or the bridge is not ready.
  BRIDGE_PAUSED: retry('The bridge contract is paused.', 'Wait until its owner resumes it.'),
  NATIVE_NOT_FINAL: retry("The source contract's finalized table does not have this nonce yet.", 'Wait for finality on the source chain.'),
  BRIDGE_BUDGET: retry(
    'The inbound budget of the day is spent.',
    'Nothing: it renews at midnight UTC. The owner of the bridge can raise it: fund the insurance fund, or lower the risk denominator.',
  ),
  BRIDGE_CAP: fatal(
    'The amount is not below what a whole day lets in.',
    'Ask the owner of the bridge to raise the cap (insurance fund, risk denominator), then portage transfer retry.',
  ),
  BRIDGE_ROLE_MISSING: retry(
    'The account of the lane does not have the role of a relayer.',
    'Ask the admin of the bridge to grant RELAYER_ROLE to the address of the lane.',
  ),
  BRIDGE_POOL_EMPTY: retry(
    'The pool of the bridge cannot pay this amount.',
    'Wait until tokens come back to the pool, or ask the owner of the bridge to fill it.',
  ),
  WRAPPER_MISSING: retry('The token has no wrapper on the target chain yet.', 'Attest the token on the target chain (createWrapped).', {
    waitsForItself: true,
  }),
  HALTED: retry('An operator has halted this.', 'portage unhalt, with the same scope; portage settings shows all halts.'),
  FEE_CEILING: retry('The base fee is above the ceiling.', 'Wait until it falls, or raise the ceiling: portage fees set.'),
  FEE_LIMIT: retry('The transaction would cost more than is allowed.', 'Wait until fees fall, or raise the limit: portage fees set.', {
    waitsForItself: true,
  }),
  FEE_BELOW_COST: retry(
    'The fee is worth less than the delivery costs now.',
    'Wait until gas is cheaper; or correct the price of the token (bridges.wormhole-token-bridge.prices), or remove it.',
    { waitsForItself: true },
  ),
  SET_ASIDE: retry(
    'Deliveries of this token, or to this recipient, were simulated well and reverted: no more gas is spent on it for now.',
    'Look at the reverted transactions. It is tried again at the time that the reason says, or at once by portage transfer retry; portage deny keeps the token or the recipient out.',
    { waitsForItself: true },
  ),
  GAS_LIMIT: fatal('The call needs more gas than is allowed.', 'Raise the gas limit (portage fees set), then portage transfer retry.'),
  DEADLINE_PASSED: fatal(
    'The deadline of the transfer has passed.',
    'portage transfer retry delivers it all the same, without a deadline.',
  ),
  EFFECT_UNDONE: retry(
    'The chain no longer shows what it showed as final.',
    'Nothing: it is delivered again. Ask the operators of the chain, and consider more distance to finality.',
  ),
  // Reverts.
  DELIVERY_REVERTED: retry('The delivering call reverted.', 'Look at the reason; portage transfer retry tries again.', {
    waitsForItself: true,
  }),
  DELIVERY_IMPOSSIBLE: fatal('The delivering call can never succeed.', 'Look at the reason; nothing was sent and no gas was paid.'),
  // Lanes.
  LANE_PAUSED: retry('The lane is paused.', 'portage lane resume'),
  LANE_FORBIDDEN: retry('The lane is forbidden.', 'portage lane activate'),
  LANE_DRAINING: retry('The lane is draining: it takes no new work.', 'portage lane activate, when it is to work again.'),
  LANE_FULL: retry(
    'The lane has as many transactions in flight as its window lets.',
    'Wait for a block; add a key, or raise the window, if it lasts.',
  ),
  LANE_FUNDS: retry(
    'The account of the lane cannot pay for what is in flight and one more.',
    'Send coins of the chain to the address of the lane.',
  ),
  LANE_WITHDRAWN: fatal('This intent was withdrawn from the lane.', 'The transfer has moved to another lane; nothing to do.'),
  LANE_CONFLICT: fatal('The ledger holds another call for this intent.', 'Report this with the transfer id: it must not happen.'),
  LANE_UNSYNCED: retry(
    'The lane has not yet read its account from the chain.',
    'Wait for the next block; check the nodes of the chain if it lasts.',
  ),
  NONCE_NOT_FINAL: retry(
    'A nonce that the transfer held may still be mined with its call.',
    'Nothing: it ends once that nonce is final. If it is not mined: start the process with the key of that lane, which fills it with a no-op.',
  ),
  LANE_CHAIN_REPLACED: fatal(
    'A block that this lane has seen is not in the chain: the chain was replaced.',
    'portage lane reset --chain-replaced',
  ),
  LANE_UNREACHABLE: retry('The lane workflow did not answer.', 'Check that a worker serves the queue ledger.'),
  STREAM_UNREACHABLE: retry('The stream workflow did not answer.', 'Check that a worker serves the queue ledger.'),
  STREAM_AUDIT_UNENDED: retry(
    'The audit of the stream was ended before its time: what it waited for did not come.',
    'portage stuck says what stands: a stream that is not fed, a ledger, Temporal or a node that is away. Then audit it again. What it has found until then is kept.',
  ),
  QUEUE_UNPOLLED: fatal(
    'This process serves a queue of Temporal, and does not poll it any more.',
    'Nothing, where its supervisor starts it again (systemd, Kubernetes): it ends by itself. Else start it again. Keep its log: it must not happen.',
  ),
  CHECKPOINT_INVALID: fatal(
    'The stored checkpoint of the stream is invalid.',
    'Nothing: the stream begins without it and reads more blocks. Correct or remove the file, or the object.',
  ),
  CHECKPOINT_UNAVAILABLE: retry(
    'The checkpoint of the stream could not be read or written.',
    'Check streams.checkpoints in the config: the folder and its rights, or the object store.',
  ),
  ARCHIVE_UNAVAILABLE: retry(
    'The archive could not be read or written.',
    'Check archive in the config: the folder and its rights, or the bucket, its region and the credentials. The next pass goes on where this one stopped.',
  ),
  ARCHIVE_INVALID: fatal(
    'A text of the archive is not what Portage writes.',
    'Put the text back from a copy, or move it away: the next pass writes what Temporal still has.',
  ),
  DATA_FOLDER_UNUSABLE: fatal(
    'The data folder cannot be used.',
    'Check dataFolder in the config: a folder that the user of the process may write to, or whose parent it may.',
  ),
  TRANSACTION_LOST: fatal(
    "What became of this operator's transaction is not known: it is not sent again.",
    'Look at the transactions of the account of the lane, by the nonce and the hashes; order it again only if none of them did it.',
  ),
  // Nodes and services.
  NODES_DISAGREE: retry(
    'The nodes of the chain do not agree.',
    'Nothing, if it passes; else portage doctor, then portage node disable the node that lies. Disabled nodes still count: where no majority is left, take dead ones out of the config.',
  ),
  NODE_UNAVAILABLE: retry('No node of the chain answered.', 'Check the nodes in the config; portage doctor tests each of them.'),
  NODE_REFUSED: retry('The node refused the request.', 'Read the message of the node.'),
  CHAIN_ID_MISMATCH: fatal('A node serves another network than configured.', 'Correct the node URL or the networkId of the chain.'),
  TRANSACTION_REFUSED: retry('The node refused the transaction.', 'Read the message of the node.'),
  SIGNER_UNAVAILABLE: fatal(
    'The key of this lane could not be opened.',
    "Check the lane's signer in the config: the keystore file and its password, the variable, or the key of the signing service.",
  ),
  SIGNER_OFFLINE: retry(
    'The signer of this lane does not sign as it should.',
    'Nothing, if it passes; else check the remote signer or AWS KMS, and that this process may use the key: portage doctor.',
  ),
  SIGNING_REFUSED: fatal(
    'The signing policy of the lane does not allow this.',
    'Nothing was signed. If it should be, change what the message names in the config of the processes that hold the key; no command does.',
  ),
  CALL_UNJUSTIFIED: fatal(
    'No message of a bridge justifies this call: the key of the lane does not sign it.',
    'Nothing was signed. Find out who asked for it: the workflow was not started by Portage, or its message was altered. Who can reach Temporal?',
  ),
  SPENDING_UNRECORDED: retry(
    'What the key spends could not be recorded, so that nothing is signed.',
    'Check the folder and its rights, and the space on its disk.',
  ),
  NOTIFIER_UNREACHABLE: retry('The notifier of this receiver did not answer.', 'Check that a worker serves the queue ledger.'),
  SETTINGS_UNREACHABLE: retry('The settings workflow did not answer.', 'Check that a worker serves the queue ledger.'),
  SPY_UNAVAILABLE: retry('The guardian spy cannot be reached.', 'Check bridges.wormhole-token-bridge.spy.address.'),
  VAA_NOT_FOUND: retry('No guardian API has a signed VAA for this sequence.', 'Wait for finality on the source chain, then ask again.'),
  TEMPORAL_UNAVAILABLE: retry('The Temporal server cannot be reached.', 'Check temporal.address in the config and that the server runs.'),
  TEMPORAL_NAMESPACE: retry(
    'The Temporal server does not have the namespace.',
    'Check temporal.namespace in the config, or make it: portage setup temporal',
  ),
  TEMPORAL_TLS: retry(
    'The Temporal server wants TLS, and is called in plain text.',
    'Set temporal.tls in the config ({} where a public CA signed its certificate), or TEMPORAL_TLS=true.',
  ),
  TEMPORAL_NO_TLS: retry(
    'The Temporal server does not speak TLS, and is called with it.',
    'Correct temporal.address, or have the server speak TLS. Plain text is temporal.tls.disabled: true, or TEMPORAL_TLS=false.',
  ),
  TEMPORAL_UNTRUSTED: retry(
    "The Temporal server's certificate is not trusted.",
    'Name the CA that signed it: temporal.tls.caFile, or TEMPORAL_TLS_SERVER_CA_CERT_PATH. Where its name differs: temporal.tls.serverName.',
  ),
  TEMPORAL_CERTIFICATE_REFUSED: retry(
    'The Temporal server refuses our certificate, or wants one and got none.',
    'Give a certificate that a CA of the server has signed and that is valid: temporal.tls.certificateFile and keyFile, or TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH.',
  ),
  TEMPORAL_CREDENTIALS: retry(
    'A certificate, key or API key for Temporal cannot be used.',
    'Correct the file or variable that is named: PEM for certificates and keys, of the same pair; the bare text for an API key.',
  ),
  TEMPORAL_API_KEY_REFUSED: retry(
    'The Temporal server does not accept our API key.',
    'It is wrong or has expired, or is for another account: put a new one into temporal.apiKeyFile (read again without a restart) or TEMPORAL_API_KEY.',
  ),
  TEMPORAL_PERMISSION: retry(
    'The Temporal server does not let us do this in the namespace.',
    'Have the API key or certificate permitted: for workers and orders to write, for a look to read, in the namespace that is named; or use another one. An API key that has ended meanwhile is refused in the same way.',
  ),
  ...encryptionErrors,
  API_LISTEN: fatal(
    'The API cannot listen at its address.',
    'Stop what listens there, or choose another api.host or api.port in the config.',
  ),
  ADMIN_LISTEN: fatal(
    'The admin port, with health and metrics of this process, cannot be listened on.',
    'Stop what listens there (another process of Portage with the same config?), or choose another admin.host or admin.port in the config, or --admin-port; 0 takes any free port.',
  ),
  CODEC_LISTEN: fatal(
    'The codec server cannot listen at its address.',
    'Stop what listens there, or choose another codecServer.host or codecServer.port in the config, or --port.',
  ),
  API_UNAVAILABLE: retry('The REST API of Portage cannot be reached.', 'Start it (portage run --role api), or name its URL with --api.'),
  // Access.
  ACCESS_TOKEN_MISSING: fatal(
    'This needs an access token.',
    'Over HTTP send Authorization: Bearer <token>; on the command line set PORTAGE_TOKEN, or give --token-file. portage token create makes one.',
  ),
  ACCESS_TOKEN_INVALID: fatal(
    'The access token is not one of this deployment.',
    'Use a token that was made for it and whose key was not removed; portage token create makes one.',
  ),
  ACCESS_TOKEN_EXPIRED: fatal('The access token has expired.', 'Ask for a new one: portage token create.'),
  ACCESS_TOKEN_REVOKED: fatal('The access token was revoked.', 'Ask who administers Portage: portage token list shows when and why.'),
  ACCESS_LEVEL: fatal(
    'The level of the access token is too low for this.',
    'Use a token of the level that is needed: docs/operate/access.md.',
  ),
  ACCESS_SCOPE: fatal('The access token is not for this chain or lane.', 'Use a token whose scope has it: portage token list.'),
  ACCESS_HOST: fatal(
    'The request names a host that this API does not serve.',
    'Add the name to api.hosts in the config, if it is one of this API.',
  ),
  ACCESS_KEYS: fatal(
    'The keys of the access tokens cannot be used.',
    'Run this where the key file is (dataFolder of the config), or list the public keys in access.publicKeys.',
  ),
  // Input and operation.
  CONFIG_INVALID: fatal('The config has problems.', 'Correct the fields that are named.'),
  INPUT_INVALID: fatal('The request has a problem.', 'Correct the fields that are named.'),
  ...apiErrors,
  RATE_LIMITED: retry('Too many requests from this address.', 'Wait as long as the Retry-After header says.'),
  TRANSFER_NOT_FOUND: fatal('No transfer has this id.', 'portage transfer list shows the known ids.'),
  LANE_NOT_FOUND: fatal('No lane has this id.', 'portage lane list shows the known lanes.'),
  RECEIVER_NOT_FOUND: fatal(
    'No receiver of notifications has this name, or its notifier has not begun.',
    'portage notifications list shows those of the config; a process of the role ledger with the same config begins their notifiers.',
  ),
  STREAM_NOT_FOUND: fatal(
    'No stream has this id.',
    'portage stream list shows the known streams. A stream is started when the intake first reads its source.',
  ),
  SETUP_INCOMPLETE: fatal('A part that Portage needs is missing.', 'npm run setup'),
  INTERNAL: retry('Something unexpected happened.', 'Read the cause; report it if it repeats.'),
} as const satisfies Record<string, CatalogueEntry>

export type ErrorCode = keyof typeof errorCatalogue

/** What an error is about: transfer, chain, lane, field… Values are shown to people; never put a secret here. */
export type Facts = Readonly<Record<string, string | number | boolean | undefined>>

/** The one error type of Portage. `message` is the whole text: what happened, about what, and what to do. */
export class RelayerError extends Error {
  readonly code: ErrorCode
  readonly retriable: boolean
  readonly facts: Facts
  readonly title: string
  readonly remedy: string
  /** What the message says beside title and remedy: detail and facts. */
  readonly about: string
  /** As `CatalogueEntry.haltRoute`. */
  readonly haltRoute: boolean

  constructor(code: ErrorCode, options: { detail?: string; facts?: Facts; cause?: unknown } = {}) {
    const { title, remedy, retriable, haltRoute = false }: CatalogueEntry = errorCatalogue[code]
    const about = aboutOf(options)
    super([title, about === title ? '' : about, `→ ${remedy}`].filter(Boolean).join(' '), { cause: options.cause })
    this.name = 'RelayerError'
    this.code = code
    this.retriable = retriable
    this.facts = options.facts ?? {}
    this.title = title
    this.remedy = remedy
    this.about = about
    this.haltRoute = haltRoute
  }
}

/** As `CatalogueEntry.awaitNewSignatures`, of a code that a workflow reports. */
export function awaitsNewSignatures(code: string | undefined): boolean {
  const entries: Readonly<Record<string, CatalogueEntry>> = errorCatalogue
  return code !== undefined && entries[code]?.awaitNewSignatures === true
}

/** As `CatalogueEntry.waitsForItself`, of a code that a workflow reports. */
export function waitsForItself(code: string): boolean {
  const entries: Readonly<Record<string, CatalogueEntry>> = errorCatalogue
  return entries[code]?.waitsForItself === true
}

/** Any thrown value as a RelayerError: itself, or INTERNAL with the text of the cause. */
export function toRelayerError(error: unknown): RelayerError {
  if (error instanceof RelayerError) return error
  const detail = error instanceof Error ? error.message : String(error)
  return new RelayerError('INTERNAL', { detail, cause: error })
}

function aboutOf({ detail, facts = {} }: { detail?: string; facts?: Facts }): string {
  const listed = Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
  return [detail, listed && `(${listed})`].filter(Boolean).join(' ')
}
