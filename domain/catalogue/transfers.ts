import { cause, commands, does, fatal, retry, type Row, row } from './row.ts'

const { doctor, fees, listLanes, raiseFee, reason, show } = commands

/** Transfers: refused by policy, waiting for a bridge, a fee or a token, and reverted. */
export const transferRows = {
  // Valid messages that the policy refuses. They are declined, and a retry decides again.
  PAYLOAD_WITH_CALL: fatal(
    'A payload 3 transfer can only be redeemed by its recipient contract.',
    'Configure the call that delivers it for that recipient contract.',
  ),
  TARGET_CHAIN_UNSUPPORTED: fatal('No chain with this Wormhole id is configured.', 'Add the chain to the config, or ignore this transfer.'),
  ASSET_UNSUPPORTED: fatal('The origin token is not in the allow-list.', 'Add the token to the allow-list of the bridge.'),
  FEE_NOT_CONFIGURED: fatal(
    'No fee is configured for this token, and its route is not free.',
    'Add the token to minimumFees of the bridge, or name the route in its freeRoutes; or redeem it without Portage.',
  ),
  AMOUNT_TOO_SMALL: fatal(
    'The amount is below the configured minimum of the route.',
    'Lower `minimumAmount` of the route and run `portage transfer retry`, or complete it without Portage.',
  ),
  FEE_TOO_LOW: fatal(
    'The fee is below the configured minimum.',
    'Lower the minimum fee for this target chain and token, or redeem it without Portage.',
  ),
  RECIPIENT_DENIED: fatal('The recipient is on the deny-list.', 'Run `portage allow` for the recipient, then `portage transfer retry`.'),
  TOKEN_DENIED: fatal('The token is on the deny-list.', 'Run `portage allow` for the token, then `portage transfer retry`.'),
  // Reasons to wait. Nothing is wrong with the transfer, but the chain or the bridge is not ready.
  BRIDGE_PAUSED: {
    ...retry('The bridge contract is paused.', 'Wait until its owner resumes it.'),
    ...cause('transfers', does.rechecks, [show]),
  },
  BRIDGE_ROLE_MISSING: {
    ...retry(
      'The account of the lane does not have the role of a relayer.',
      'Ask the admin of the bridge to grant `RELAYER_ROLE` to the address of the lane.',
    ),
    ...cause('transfers', 'Portage pauses a lane that can do nothing else, and resumes it when it has the role.', [show, listLanes]),
  },
  BRIDGE_POOL_EMPTY: {
    ...retry(
      'The pool of the bridge cannot pay this amount.',
      'Wait until tokens come back to the pool, or ask the owner of the bridge to fill it.',
    ),
    ...cause('transfers', does.rechecks, [show]),
  },
  BRIDGE_BUDGET: {
    ...retry(
      'The inbound budget of the day is spent.',
      'Nothing: it renews at midnight UTC. The owner of the bridge can raise it: fund the insurance fund, or lower the risk denominator.',
    ),
    ...cause('transfers', 'Portage delivers the transfers, sorted by their numbers, when the budget renews at midnight UTC.', [show]),
  },
  BRIDGE_CAP: {
    ...fatal(
      'The amount is not below the inbound cap of a whole day.',
      'Ask the owner of the bridge to raise the cap (insurance fund, risk denominator), then run `portage transfer retry`.',
    ),
    ...cause('transfers', 'The transfers are parked, because their amounts are above the cap of a whole day.', [show, commands.retry]),
  },
  NATIVE_NOT_FINAL: {
    ...retry("The source contract's finalized table does not have this nonce yet.", 'Wait for finality on the source chain.'),
    ...cause('transfers', does.rechecks, [show]),
  },
  WRAPPER_MISSING: {
    ...retry('The token has no wrapper on the target chain yet.', 'Attest the token on the target chain (createWrapped).', {
      waitsForItself: true,
    }),
    ...cause('transfers', does.rechecks, [show]),
  },
  FEE_CEILING: {
    ...retry('The base fee is above the ceiling.', 'Wait until it falls, or raise the ceiling: run `portage fees set`.'),
    ...cause('transfers', does.rechecks, [fees, `portage fees set --scope chain:<chain> --base-fee-ceiling <fee> ${reason}`]),
  },
  FEE_LIMIT: {
    ...retry('The transaction would cost more than is allowed.', 'Wait until fees fall, or raise the limit: run `portage fees set`.', {
      waitsForItself: true,
    }),
    ...cause('transfers', does.rechecks, [fees, raiseFee]),
  },
  FEE_BELOW_COST: {
    ...retry(
      'The fee is worth less than the delivery costs now.',
      'Wait until gas is cheaper; or correct the price of the token (bridges.wormhole-token-bridge.prices), or remove it.',
      { waitsForItself: true },
    ),
    ...cause('transfers', does.rechecks, [show, fees]),
  },
  QUARANTINED: {
    ...retry(
      'Deliveries of this token, or to this recipient, were simulated without error and then reverted: no more gas is spent on it for now.',
      'Look at the reverted transactions. Portage tries again at the time that the reason says, or at once by `portage transfer retry`; `portage deny` keeps the token or the recipient out.',
      { waitsForItself: true },
    ),
    ...cause('transfers', 'Portage tries these transfers less often, so that they waste no gas.', [
      show,
      `portage deny <kind> <party> ${reason}`,
    ]),
  },
  GAS_LIMIT: fatal(
    'The call needs more gas than is allowed.',
    'Raise the gas limit (run `portage fees set`), then run `portage transfer retry`.',
  ),
  DEADLINE_PASSED: fatal(
    'The deadline of the transfer has passed.',
    '`portage transfer retry` delivers it nevertheless, without a deadline.',
  ),
  DELIVERY_REVERTED: retry('The delivering call reverted.', 'Look at the reason; `portage transfer retry` tries again.', {
    waitsForItself: true,
  }),
  DELIVERY_IMPOSSIBLE: fatal('The delivering call can never succeed.', 'Look at the reason; nothing was sent and no gas was paid.'),
  TRANSFERS_SLOW: {
    ...row(
      'Transfers are in one state for longer than it usually takes.',
      '`portage transfer show <id>` shows the state and every attempt.',
    ),
    ...cause('unexplained', 'Portage keeps trying.', [show, doctor]),
  },
  TRANSFERS_PARKED: {
    title: 'Transfers are parked: they are out of automatic retries and wait for an operator.',
    remedy: 'Look up the code of the transfer in docs/reference/errors.md. Retry once its cause is gone.',
    ...cause('unexplained', 'Parked transfers are still watched. If somebody else delivers one, it ends as delivered.', [
      show,
      commands.retry,
      `portage transfer cancel <id> ${reason}`,
    ]),
  },
  TRANSFERS_WAIT: {
    ...row('Transfers wait for something that passes.', 'Look up the code of the transfer in docs/reference/errors.md.'),
    ...cause('unexplained', does.rechecks, [show]),
  },
  TRANSFER_REOPENED: row(
    'A transfer was closed without an outcome, and is started again.',
    'Find out who ends transfers without Portage. To stop a transfer for good, run `portage transfer cancel`.',
  ),
  TRANSFER_RESET: row(
    'A transfer made no progress, and is started again.',
    'Nothing if Temporal was restored to an earlier state. Otherwise report it.',
  ),
} satisfies Record<string, Row>
