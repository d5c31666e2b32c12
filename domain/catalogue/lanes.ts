import { cause, commands, does, fatal, outage, retry, retryAlone, type CatalogueRow, row } from './row.ts'

const { activate, doctor, fees, listLanes, nodes, raiseFee, reason, show, showLane } = commands

const replace = `portage lane replace <lane> <nonce> --max-fee <fee> ${reason}`

export const laneRows = {
  LANE_WITHOUT_WORKER: {
    ...row('No process with the key of this lane is running.', 'Start a process with the key.'),
    severity: 'lane',
    does: `${does.otherLanes} Transfers with a nonce may move to another lane after \`transfers.abandonAfterMinutes\`.`,
    next: ['portage run --role lane --lane <address>', 'portage run --role lane --chain <chain>'],
    meaning: 'The key of the lane signs nothing.',
  },
  LANE_CHAIN_REPLACED: {
    ...fatal(
      'A block that the lane knew as final is no longer in the chain.',
      'Make sure that another chain really replaced this one, and that no node is on a wrong fork. Then run `portage lane reset --chain-replaced`.',
      { isOutage: true },
    ),
    ...cause('lane', does.otherLanes, [nodes, `portage lane reset <lane> --chain-replaced ${reason}`], 'The lane has stopped itself.'),
  },
  LANE_FUNDS: {
    title: 'The account of the lane cannot pay for its transactions.',
    remedy: 'Send coins of the chain to the address of the lane, from any account.',
    retriable: true,
    passesSoon: true,
    severity: 'lane',
    does: `${does.otherLanes} The lane takes work again by itself once it has enough coins, or once gas is cheap enough: from time to time, the lane tries a call. With \`chains.<name>.topUp\`, another lane sends coins.`,
    next: [showLane, 'portage lane top-up <lane> --from <other lane> --amount <wei> --wait'],
  },
  LANE_TOKEN_LOW: {
    title: 'The account of the lane has less of a token than the minimum in the config.',
    remedy: 'Send tokens to the address of the lane, from any account.',
    ...cause('note', 'The lane continues to work, because its transactions need only the coin of the chain.', [showLane]),
  },
  TOP_UP_HELD: row(
    'The balance of a lane is below the minimum of automatic top-ups, but the lane cannot be topped up now.',
    'Run `portage lane transactions` for the lane that pays. If that lane lacks coins, send it coins. If a limit of `chains.<name>.topUp` or of the key holds up the payment, and the traffic is real, raise the limit in the config. You can also send coins from elsewhere to the lane whose balance is low.',
  ),
  LANE_FORBIDDEN: {
    ...retry('The lane is forbidden: its key signs nothing new.', 'Run `portage lane activate`.'),
    ...cause('lane', does.otherLanes, [showLane, activate]),
  },
  LANE_PAUSED: {
    ...retry('The lane is paused: it grants no nonces.', 'Run `portage lane resume`.'),
    ...cause('lane', does.otherLanes, [showLane, `portage lane resume <lane> ${reason}`]),
  },
  LANE_DRAINING: {
    ...retry('The lane is draining: it takes only operator transactions.', 'Run `portage lane activate` once the lane should work again.'),
    ...cause('lane', does.otherLanes, [showLane, activate]),
  },
  LANE_WINDOW_ZERO: {
    ...row('The window of the lane is 0, so the lane grants no nonces.', 'Set a window above 0.'),
    ...cause('lane', does.otherLanes, [`portage lane set-window <lane> <number> ${reason}`]),
  },
  FEE_LIMIT_REACHED: {
    title: 'The transaction with the lowest nonce of the lane is not mined: the fee limit is below the fee that the chain requires.',
    remedy:
      'Run `portage fees show`, then raise the limit (run `portage fees set`), or wait until the base fee falls. `portage lane replace` sends one transaction with a fee above the limits.',
    severity: 'lane',
    does: 'Portage keeps resending the attempt with the highest fee. Higher nonces of the lane wait for the lowest nonce.',
    next: [showLane, fees, raiseFee, replace],
  },
  NONCE_STUCK: {
    title: 'The transaction with the lowest nonce of the lane has not been mined for many blocks.',
    remedy:
      'Replace the transaction with a higher fee. If the fee limits keep the fee too low, raise the limits. If the fee is high enough, the nodes lose the transaction: repair the nodes, or add a node.',
    severity: 'lane',
    does: 'Portage raises the fee of this transaction, up to the fee limits, and sends it to every node.',
    next: [showLane, replace, nodes],
    meaning: 'All higher nonces of the lane wait for the lowest nonce.',
  },
  LANE_UNREACHABLE: {
    ...outage('The lane workflow did not answer.', 'Check that a worker serves the queue `ledger`.'),
    ...cause('lane', 'Portage keeps asking the ledger of the lane.', [showLane], 'Other workflows of the queue `ledger` answer.'),
  },
  LANE_UNSYNCED: {
    title: 'No process has reported the account of the lane to its ledger yet.',
    remedy: 'Wait for the next block. If the lane still has this code after several blocks, check the nodes of the chain.',
    retriable: true,
    severity: 'lane',
    does: 'A process with the key of the lane reads the account at the next block. If transactions of an earlier ledger are still in a pool, the lane waits until they are mined.',
    next: [showLane, nodes],
    meaning: 'Until the ledger knows the account, the lane grants no nonces.',
  },
  LANE_NONE: {
    ...retry('No lane of the target chain takes work.', 'Resume or activate a lane, or add a key for this chain.', { passesSoon: true }),
    ...cause('transfers', does.rechecks, [listLanes, activate]),
  },
  LANE_CHOSEN: retryAlone(
    'The lane that the submission chose for the transfer takes no work, or cannot pay for its call.',
    'Resume or activate this lane, or send coins of the chain to it. To let other lanes deliver the transfer, cancel it, then retry it.',
    { passesSoon: true },
  ),
  LANE_FULL: {
    title: 'The lane already has as many transactions in flight as its window allows.',
    remedy: 'Wait for a block. If the lane stays full, add a key to the chain, or raise the window.',
    retriable: true,
    severity: 'transfers',
    does: 'Waiting calls are ranked by priority, which rises while they wait. As soon as a transaction of the lane is mined, the first waiting call gets a nonce.',
    next: [listLanes],
  },
  LANE_CONFLICT: fatal('The ledger holds another call for this intent.', 'This is a bug: report it with the transfer id.'),
  LANE_KEEPS_TOO_MANY: row(
    'The lane has nearly reached its limit of nonces that are not final. At the limit, the lane grants no nonces until some of its nonces are final.',
    'Check whether new blocks become final (run `portage doctor` twice). If finality is only slow, add a lane.',
  ),
  NONCE_NOT_FINAL: retry(
    'An earlier nonce of this call is not final: the call may still be mined with the earlier nonce.',
    'Wait until the earlier nonce is final. If the nonce is not mined, start a process with the key of its lane: the process fills the nonce with a no-op.',
    { passesSoon: true },
  ),
  KEY_USED_ELSEWHERE: {
    title: 'The key of this lane is used outside Portage. The lane skips the nonces that were used outside, and grants higher nonces.',
    remedy: 'Find out who else holds the key of this lane: docs/runbooks/KEY_USED_ELSEWHERE.md. Two programs must never share a key.',
    severity: 'note',
    does: 'The lane continues to work. `portage stuck` shows this cause for a day after the last use outside Portage.',
    next: [showLane, `portage lane forbid <lane> ${reason}`],
  },
  SIGNING_REFUSED: {
    ...fatal(
      'The signing policy of the lane does not allow this transaction.',
      'Nothing was signed. If the traffic is real, raise the limit that the message names, in the config of the processes with the key (no command changes the limit). If the traffic is not real, the key may have leaked: docs/runbooks/KEY_USED_ELSEWHERE.md.',
      { isOutage: true },
    ),
    ...cause('transfers', 'The signer signs nothing beyond the limits. The transfers wait.', [show, showLane]),
  },
  CALL_UNJUSTIFIED: {
    ...fatal(
      'No message of a bridge proves this call: the key of the lane does not sign it.',
      'Nothing was signed. Portage did not start this workflow, or the message of the workflow was altered: find out who can reach Temporal.',
      { isOutage: true },
    ),
    ...cause('transfers', 'The key does not sign this call.', [show, showLane]),
  },
  SIGNER_OFFLINE: {
    ...outage(
      'The signer of a lane or of Executor quotes cannot be reached, refuses to sign, or returns a wrong signature.',
      'Do nothing if the signer works again by itself; otherwise run `portage doctor`, and check the remote signer or AWS KMS, and whether this process may use the key.',
    ),
    ...cause('transfers', does.keeps, [doctor, show]),
  },
  SIGNER_UNAVAILABLE: fatal(
    'The key of this lane could not be opened.',
    "Check the lane's signer in the config: the keystore file and its password, the environment variable, or the key of the signing service.",
    { isOutage: true },
  ),
  SPENDING_UNRECORDED: {
    ...outage(
      "The key's spending could not be recorded, so nothing is signed.",
      'If the message names a file with a bad line, remove that line; otherwise check the folder, its permissions and the free space on its disk.',
    ),
    ...cause('transfers', does.keeps, [show]),
  },
  TRANSACTION_LOST: fatal(
    'Portage cannot find out whether this operator transaction was mined, and does not send it again.',
    "Among the transactions of the lane's account, look for the nonce and the hashes that this error names. Order the transaction again only if no transaction with this nonce or one of these hashes made the same call.",
  ),
} satisfies Record<string, CatalogueRow>
