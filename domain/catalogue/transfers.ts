import { cause, commands, does, fatal, outage, retry, retryAlone, type CatalogueRow, row } from './row.ts'

const { doctor, fees, listLanes, raiseFee, reason, show } = commands

export const transferRows = {
  PAYLOAD_WITH_CALL: fatal(
    'A payload 3 transfer can only be redeemed by its recipient contract.',
    'Configure the call by which that recipient contract redeems the transfer.',
  ),
  TARGET_CHAIN_UNSUPPORTED: fatal(
    'This process does not serve the chain, or its config lacks a contract that the bridge needs on it.',
    'Add the chain to the option `--chain` of the process, or the chain or the contract to the config, or ignore this transfer.',
  ),
  CONFIG_DIFFERS: retryAlone(
    'A process refuses the transfer, but the process that started the transfer has another config.',
    'Restart the processes of the target chain, so that all processes have the same config. A day after its start, the transfer is refused anyway.',
    { passesSoon: true },
  ),
  ASSET_UNSUPPORTED: fatal('The origin token is not in the allow-list.', 'Add the token to the allow-list of the bridge.'),
  FEE_NOT_CONFIGURED: fatal(
    'No fee is configured for this token, and its route is not free.',
    'Add the token to minimumFees of the bridge, name the route in its freeRoutes, or redeem the transfer without Portage.',
  ),
  AMOUNT_TOO_SMALL: fatal(
    'The amount is below the configured minimum of the route.',
    'Lower `minimumAmount` of the route and run `portage transfer retry`, or complete the transfer without Portage.',
  ),
  FEE_TOO_LOW: fatal(
    'The fee is below the configured minimum.',
    'Lower the minimum fee for this target chain and token, or redeem the transfer without Portage.',
  ),
  EXECUTOR_QUOTE_UNKNOWN: fatal(
    'The quoter of this config did not sign the quote of this request for execution.',
    'Ask the provider whose quoter signed the quote. If the key of bridges.executor.quoter was replaced, deliver the message yourself.',
  ),
  EXECUTOR_UNSUPPORTED: fatal(
    'Portage does not deliver requests for execution of this kind, to this chain, or of this size.',
    'Compare the request with GET /v0/capabilities. Raise a cap of bridges.executor, then run `portage transfer retry`.',
  ),
  EXECUTOR_UNDERPAID: fatal(
    'The payment of a request for execution is below the price of its quote.',
    'The payer can request the delivery again, at the full price. The first payment is not returned.',
  ),
  EXECUTOR_MESSAGE: fatal(
    'The bytes are not a request for execution.',
    'Submit nothing: the stream of the Executor finds requests by itself.',
  ),
  GAS_ABOVE_PAID: fatal(
    'The delivery needs more gas than its request pays for.',
    'The payer can request the delivery again, with a higher gas limit.',
  ),
  CALL_TOO_DEAR: retryAlone(
    'The delivery needs a lot of gas, and no open lane has enough coins for its highest cost now.',
    'Wait until gas is cheaper, or send coins of the chain to a lane. The lanes deliver other transfers meanwhile.',
  ),
  PRICE_MISSING: {
    ...retryAlone(
      'The price feed has no current price of a coin or token.',
      'Update the sources of priceFeed, or correct the expected price. Without the price, Portage gives no quotes, and transfers whose fees need the price wait.',
    ),
    ...cause(
      'transfers',
      'Portage asks the sources again every `priceFeed.everySeconds` seconds. Once the price is current, Portage gives quotes again, and the transfers continue by themselves.',
      ['portage transfer list --state waiting', show],
    ),
  },
  EXECUTOR_EXPIRED: fatal(
    'The quote of a request for execution expired before the delivery could begin.',
    'The payer can request the delivery again, with a new quote. To deliver such requests, set bridges.executor.honourExpired to true, then run `portage transfer retry`.',
  ),
  RECIPIENT_DENIED: fatal('The recipient is on the deny-list.', 'Run `portage allow` for the recipient, then `portage transfer retry`.'),
  TOKEN_DENIED: fatal('The token is on the deny-list.', 'Run `portage allow` for the token, then `portage transfer retry`.'),
  DENIAL_UNCLEAR: retryAlone(
    'A denial of this recipient or token names a chain that the config lacks.',
    'Run `portage deny` again with the name that the chain has in the config, then `portage allow` with the old name.',
  ),
  BRIDGE_PAUSED: {
    ...retry('The bridge contract is paused.', 'Wait until the owner of the bridge ends the pause.'),
    ...cause('transfers', does.rechecks, [show]),
  },
  BRIDGE_ROLE_MISSING: {
    title: 'The account of the lane does not have the role of a relayer.',
    remedy: 'Ask the admin of the bridge to grant `RELAYER_ROLE` to the address of the lane.',
    retriable: true,
    severity: 'transfers',
    does: 'Portage pauses a lane whose account has no role at any bridge, and resumes the lane once the account has a role.',
    next: [show, listLanes],
  },
  BRIDGE_POOL_EMPTY: {
    title: 'The pool of the bridge cannot pay this amount.',
    remedy: 'Wait until tokens come back to the pool, or ask the owner of the bridge to fill the pool.',
    retriable: true,
    ...cause('transfers', does.rechecks, [show]),
  },
  BRIDGE_BUDGET: {
    ...retry(
      'The inbound budget of the bridge for this day is spent.',
      'Wait: the budget renews at midnight UTC. To raise the budget, the owner of the bridge can fund the insurance fund or lower the risk denominator.',
    ),
    ...cause('transfers', 'When the budget renews at midnight UTC, Portage delivers the transfers, the lowest number first.', [show]),
  },
  BRIDGE_CAP: {
    ...fatal(
      'The amount is not below the daily inbound cap of the bridge.',
      'Ask the owner of the bridge to raise the cap (insurance fund, risk denominator), then run `portage transfer retry`.',
    ),
    ...cause('transfers', 'The transfers are parked, because the amount will be above the cap tomorrow too.', [show]),
  },
  NATIVE_NOT_FINAL: {
    title: "The source contract's table does not yet have the nonce of this transfer in a final block.",
    remedy: 'Wait for finality on the source chain.',
    retriable: true,
    ...cause('transfers', does.rechecks, [show]),
  },
  WRAPPER_MISSING: {
    ...retryAlone('The token has no wrapper on the target chain yet.', 'Attest the token on the target chain (createWrapped).'),
    ...cause('transfers', does.rechecks, [show]),
  },
  FEE_CEILING: {
    title: 'The base fee of the chain is above the ceiling for new transfers.',
    remedy: 'Wait until the base fee falls, or raise the ceiling: run `portage fees set`.',
    retriable: true,
    passesSoon: true,
    ...cause('transfers', does.rechecks, [fees, `portage fees set --scope chain:<chain> --base-fee-ceiling <fee> ${reason}`]),
  },
  FEE_LIMIT: {
    ...retryAlone(
      'The transaction would cost more than the fee limits allow.',
      'Wait until fees fall, or raise the limit that the reason names: run `portage fees set`. To remove a limit that was set with the submission (see `portage transfer show`), cancel the transfer, then retry it.',
      { passesSoon: true },
    ),
    ...cause('transfers', does.rechecks, [
      fees,
      raiseFee,
      `portage fees set --scope chain:<chain> --max-fee-per-transaction <amount> ${reason}`,
      `portage transfer cancel <id> ${reason}`,
    ]),
  },
  FEE_BELOW_COST: {
    ...retryAlone(
      'The fee of the transfer is worth less than its delivery costs now.',
      'Wait until gas is cheaper or the price feed shows a higher price, or correct or remove the price of the token in bridges.wormhole-token-bridge.prices. For a plug-in, correct its settings, or set its `free` to true.',
    ),
    ...cause('transfers', does.rechecks, [show, fees]),
  },
  DELIVERY_NOT_DUE: {
    ...retryAlone(
      'The next call of the delivery is not due yet: the target contract or the policy of a plug-in makes the transfer wait.',
      'Wait until the time that the reason names, or until the cause of the wait has ended. Portage then sends the next call by itself.',
    ),
    ...cause('note', 'Portage sends the next call of the delivery when the target contract accepts it.', [show]),
  },
  QUARANTINED: {
    ...retryAlone(
      'Deliveries of this token to this recipient, or to several recipients, reverted although their simulation succeeded. Portage spends no more gas on such deliveries until the time that the reason names.',
      'Look at the reverted transactions. `portage transfer retry` makes Portage try again at once. To decline all transfers of the token or to the recipient, run `portage deny`.',
    ),
    severity: 'transfers',
    does: 'Portage tries these transfers less often, so that they waste little gas.',
    next: [show, commands.retry, `portage deny <kind> <party> ${reason}`],
  },
  SHADOW_MODE: {
    ...retryAlone(
      'The target chain is in shadow mode: the transfer is ready, and Portage sends nothing.',
      'Do nothing while another relayer delivers. To deliver with Portage, give the lanes keys and remove `shadow` from the chain in the config.',
    ),
    ...cause('note', 'Portage checks each transfer and logs the call that it would send, with its cost.', ['portage shadow']),
  },
  OUTRUN: retry(
    "Other relayers deliver the token's transfers first, so Portage's calls revert. Portage waits a minute before it delivers a new transfer of the token.",
    'Do nothing: Portage delivers the transfer after a minute if no other relayer has.',
  ),
  GAS_LIMIT: fatal(
    'The call needs more gas than the gas limit allows.',
    'Raise the gas limit (run `portage fees set`), then run `portage transfer retry`.',
  ),
  STEP_LATE: outage(
    'A step of the transfer did not end in time.',
    'Do nothing if the transfer continues. If many transfers show this code, find what is slow: the nodes of the chains, a plug-in, or a service that the step asks.',
    { waitsForItself: true, passesSoon: true },
  ),
  DEADLINE_PASSED: fatal('The deadline of the transfer has passed.', '`portage transfer retry` delivers the transfer without a deadline.'),
  DELIVERY_REVERTED: retryAlone(
    'The delivering call reverted, nodes refused it, or another transaction used its nonce.',
    'Look at the reason; `portage transfer retry` tries again.',
  ),
  DELIVERY_IMPOSSIBLE: fatal(
    'The delivering call can never succeed.',
    'Look at the reason of the revert. Nothing was sent and no gas was paid.',
  ),
  TRANSFERS_SLOW: {
    ...row('Transfers have been in one state for longer than usual.', '`portage transfer show <id>` shows the state and every attempt.'),
    ...cause('unexplained', 'Portage continues with the slow transfers.', [show, doctor]),
  },
  TRANSFERS_PARKED: {
    title: 'Transfers are parked: Portage does not retry them, and an operator must decide.',
    remedy: 'Look up the code of the transfer in docs/reference/errors.md. Retry the transfer once the cause is gone.',
    severity: 'unexplained',
    does: 'Portage still watches parked transfers. If somebody else delivers a parked transfer, it ends as delivered.',
    next: [show, commands.retry, `portage transfer cancel <id> ${reason}`],
  },
  TRANSFERS_WAIT: {
    ...row('Transfers wait, and will continue by themselves.', 'Look up the code of the transfer in docs/reference/errors.md.'),
    ...cause('unexplained', does.rechecks, [show]),
  },
  TRANSFER_REOPENED: row(
    'The workflow of a transfer was closed without an outcome, and is started again.',
    'Find out who terminates transfer workflows in Temporal. To stop a transfer for good, run `portage transfer cancel`.',
  ),
  TRANSFER_RESET: row(
    'The workflow of a transfer made no progress, and is started again.',
    'Do nothing if Temporal was restored to an earlier state; otherwise report a bug.',
  ),
} satisfies Record<string, CatalogueRow>
