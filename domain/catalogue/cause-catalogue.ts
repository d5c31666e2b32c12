import { type CauseRow, goesElsewhere, keeps, looksAgain, row } from './cause-row.ts'

const reason = '--reason "<text>"'
const show = 'portage transfer show <id>'
const retry = `portage transfer retry <id> ${reason}`
const showLane = 'portage lane show <lane>'
const activate = `portage lane activate <lane> ${reason}`
const nodes = 'portage node list --chain <chain>'
const showStream = 'portage stream show <stream>'
const audit = 'portage stream audit <stream>'
const fees = 'portage fees show'
const listReceivers = 'portage notifications list'

/** Every kind of cause, the most harmful first: rows are shown in this order. docs/runbooks/README.md shows all of it. */
export const causeCatalogue = {
  TEMPORAL_UNAVAILABLE: row(
    'Temporal does not answer, or refuses us: nothing is started and nothing goes on.',
    'Every process asks again every few seconds. What the spy tells is kept in memory, and fetched again from the guardians where a process ends meanwhile.',
    ['portage doctor'],
    'Start the server, or mend what the code names (certificate, key, permission, namespace).',
  ),
  LEDGER_WITHOUT_WORKER: row(
    'No process with the role ledger answers: no nonce is given, no stream is told anything, no setting is read or changed.',
    keeps,
    ['portage run --role ledger'],
  ),
  HALTED: row(
    'This is halted, by an operator or by Portage itself: nothing new is signed for it.',
    'Transfers are taken in and wait without a nonce; what was signed before is still mined.',
    ['portage settings', `portage unhalt <scope> ${reason}`],
    'A halt by `portage` says that two contracts of a native route contradict each other: find out why first.',
  ),
  CHAIN_UNREACHABLE: row(
    'No node of the chain answers: nothing is read from it and nothing is sent to it.',
    'It asks the nodes again and again. Transfers to other chains go on.',
    [nodes, `portage node add <chain> <name> <url> ${reason}`],
    'Start the node, or mend the network between it and Portage. An added node serves until then; it counts in no majority.',
  ),
  CHAIN_WITHOUT_MAJORITY: row(
    "Half or more of the chain's configured nodes are silent: what needs the word of most nodes waits.",
    'It reads and sends by the others; verdicts that cannot be taken back wait.',
    [nodes],
    'Bring nodes back, or take those that are gone for good out of the config, and start the processes again.',
  ),
  CHAIN_STALLED: row(
    'The chain makes no blocks, or all of our nodes of it stand still.',
    'It raises no fee meanwhile, and loses nothing.',
    [nodes, `portage halt --chain <chain> ${reason}`],
    'Compare with a block explorer: if the chain goes on there, add a node that is in sync. Halt a chain whose blocks you do not trust.',
  ),
  FINALITY_STALLED: row(
    'The chain makes blocks, and none becomes final: nothing is read from it as final, and no delivery to it ends.',
    'Deliveries are sent and stay `included`; streams of that source wait.',
    [nodes],
    'Compare with a block explorer, and wait.',
  ),
  CHAIN_WITHOUT_WORKER: row('No process serves the transfers to this chain.', keeps, ['portage run --role chain --chain <chain>']),
  LANE_WITHOUT_WORKER: row(
    'No process with the key of this lane is at work: it signs nothing.',
    `${goesElsewhere} Those with a nonce may leave after \`transfers.abandonAfterMinutes\`.`,
    ['portage run --role lane --lane <address>'],
  ),
  WORKFLOW_FAILING: row(
    'The task of a workflow fails again and again: a bug, a key that a process lacks, or a version that should not run.',
    'It resets a workflow whose code does not fit its history, and tries every other one again and again.',
    ['temporal workflow describe --workflow-id <workflow>', 'portage doctor'],
    'The log and the Web UI have the reason: "A workflow is stuck". Roll the version back, or give the process its keys.',
  ),
  LANE_CHAIN_REPLACED: row(
    'A block that the lane knew as final is not in the chain any more: the lane has stopped itself.',
    goesElsewhere,
    [nodes, `portage lane reset <lane> --chain-replaced ${reason}`],
    'Make sure first that the chain really is another one, and not a node on a wrong fork.',
  ),
  LANE_FUNDS: row(
    'The account of the lane cannot pay for its transactions.',
    `${goesElsewhere} The lane takes work again by itself once its address has coins.`,
    [showLane, 'portage lane top-up <lane> --from <other lane> --amount <wei> --wait'],
    'Or send coins of the chain to the address of the lane from anywhere.',
  ),
  LANE_FORBIDDEN: row('The lane is forbidden: its key signs nothing new.', goesElsewhere, [showLane, activate]),
  LANE_PAUSED: row('The lane is paused: it gives no nonces.', goesElsewhere, [showLane, `portage lane resume <lane> ${reason}`]),
  LANE_DRAINING: row('The lane is draining: it takes no new work.', goesElsewhere, [showLane, activate]),
  LANE_WINDOW_ZERO: row('The window of the lane is 0: it gives no nonces.', goesElsewhere, [
    `portage lane set-window <lane> <number> ${reason}`,
  ]),
  FEE_LIMIT_REACHED: row(
    'The lowest nonce of the lane is not mined, and its best offer is below what the chain asks: the fee limit is reached.',
    'It sends the best attempt again and again; the nonces above wait for it.',
    [showLane, fees, `portage fees set --scope chain:<chain> --max-fee-per-gas <fee> ${reason}`],
    'Raise the limit, or wait until the base fee falls.',
  ),
  NONCE_STUCK: row(
    'The lowest nonce of the lane is not mined for many blocks: all above it wait for it.',
    'It raises the fee of that nonce, up to its limits, and sends it to every node.',
    [showLane, `portage lane replace <lane> <nonce> --max-fee <wei> ${reason}`],
  ),
  LANE_UNREACHABLE: row('The ledger of the lane does not answer, though others do.', 'It asks again and again.', [showLane]),
  LANE_UNSYNCED: row(
    'The ledger of the lane has not read its account yet: it gives no nonces.',
    'It reads the account at the next block, and waits for nonces of an earlier ledger that are still in a pool.',
    [showLane, nodes],
  ),
  LANE_NONE: row('No lane of the target chain takes work.', looksAgain, ['portage lane list', activate]),
  LANE_FULL: row(
    'More calls wait for a nonce than the windows of the lanes let through.',
    'They get one by class and age, as soon as a nonce is mined.',
    ['portage lane list'],
    'If it lasts, add a key to the chain, or raise the window.',
  ),
  INTERNAL: row(
    'Transfers are parked, or a step of them fails again and again, by an error that nobody foresaw: a bug.',
    'A step is tried again, ever more rarely. Those that are parked are tried no more by themselves, and are still watched.',
    [show, retry],
    'Report it with the reason that `transfer show` has; retry once the cause is gone.',
  ),
  GUARDIAN_SET_UNKNOWN: row(
    'Messages are signed by a guardian set that the core contract of the target chain does not know yet.',
    'It asks again for a day; later the streams fetch the messages from the guardians.',
    ['portage doctor', 'portage stream list'],
    'The upgrade of the guardian set has to be submitted to the core contract of that chain.',
  ),
  BRIDGE_PAUSED: row('The bridge contract is paused by its owner.', looksAgain, [show]),
  BRIDGE_ROLE_MISSING: row(
    'The key of the lane does not have the role of a relayer at the bridge.',
    'It pauses a lane that can do nothing else, and resumes it when it has the role.',
    [show, 'portage lane list'],
    'Ask the admin of the bridge to grant RELAYER_ROLE to the address of the lane.',
  ),
  BRIDGE_POOL_EMPTY: row('The pool of the bridge cannot pay these amounts.', looksAgain, [show]),
  BRIDGE_BUDGET: row(
    'The gate is closed: what the bridge lets in on one day is spent.',
    'The transfers are delivered by themselves, in the order of their numbers, when the budget renews at midnight UTC.',
    [show],
    'The owner of the bridge can raise the budget.',
  ),
  BRIDGE_CAP: row(
    'The amounts are above what the bridge lets in on a whole day.',
    'They are parked, since they fit on no day.',
    [show, retry],
    'Ask the owner of the bridge to raise the cap, then retry.',
  ),
  FEE_CEILING: row('The base fee is above the ceiling that is set.', looksAgain, [
    fees,
    `portage fees set --scope chain:<chain> --base-fee-ceiling <fee> ${reason}`,
  ]),
  FEE_LIMIT: row('The deliveries would cost more than is allowed.', looksAgain, [
    fees,
    `portage fees set --scope chain:<chain> --max-fee-per-gas <fee> ${reason}`,
  ]),
  FEE_BELOW_COST: row(
    'The fees that these transfers pay are worth less than their deliveries cost now.',
    looksAgain,
    [show, fees],
    'Wait until gas is cheaper; or correct or remove the price of the token in the config.',
  ),
  SIGNING_REFUSED: row(
    'The signing policy of the lane refuses what is asked for: a limit of the key is reached.',
    'Nothing is signed past the limits; the transfers wait.',
    [show, showLane],
    'If the traffic is real, raise the limit in the config of the processes with the key; else "A key may have leaked".',
  ),
  CALL_UNJUSTIFIED: row(
    'The lane is asked to sign calls that no message justifies.',
    'Nothing is signed.',
    [show, showLane],
    'Find out who reaches Temporal.',
  ),
  SIGNER_OFFLINE: row('The signer of the lane does not sign.', keeps, ['portage doctor', show]),
  WRAPPER_MISSING: row('The token has no wrapper on the target chain yet.', looksAgain, [show], 'Attest the token there (createWrapped).'),
  SET_ASIDE: row(
    'Deliveries of this token, or to this recipient, were simulated well and reverted.',
    'It tries them more rarely, so that they waste no gas.',
    [show, `portage deny <kind> <party> ${reason}`],
  ),
  NATIVE_NOT_FINAL: row("The source contract's finalized table does not have these transfers yet.", looksAgain, [show]),
  SPY_UNAVAILABLE: row(
    'The guardian spy does not answer, or is not read: messages come late, from the APIs of the guardians.',
    'It connects again and again. Streams count what their sources have published and fetch what is missing.',
    ['portage doctor', 'portage stream list'],
    'Is the spy up, does `bridges.wormhole-token-bridge.spy.address` name it, and may `intake` reach it?',
  ),
  SPY_SILENT: row(
    'The guardian spy is connected and tells nothing: messages that the guardians have signed came from their APIs alone.',
    'It listens on. Each audit of a stream counts what its source has published and fetches what is missing, so that transfers come late.',
    ['portage doctor', 'portage stream list'],
    'Restart the spy: one that has lost its peers stays connected and says nothing. It is over with the next message that the spy tells, or with a new subscription.',
  ),
  STREAM_UNREACHABLE: row('The stream does not answer, though the queue ledger is served.', 'It asks again and again.', [showStream]),
  STREAM_FORKED: row(
    'The source chain shows other final blocks than were read.',
    'It goes back to the last block that most nodes still have, and reads again.',
    [showStream, 'portage audit run --chain <chain> --hours 48'],
  ),
  STREAM_COUNT: row(
    "The source's own count, or the target, does not fit what the source's logs have shown.",
    'It reads the blocks again, and starts nothing that the source does not have.',
    [showStream, audit],
    'A node hides logs, or the chain was reorganised: [streams.md](../operate/streams.md).',
  ),
  STREAM_PAUSED: row('The stream is paused: its cursor does not move.', 'What is open goes on.', [
    `portage stream resume <stream> ${reason}`,
  ]),
  STREAM_FULL: row('As many transfers of the stream are under way as it lets: its cursor waits.', 'It goes on as transfers end.', [
    'portage transfer list --state waiting',
    `portage stream set-max-open <stream> <number> ${reason}`,
  ]),
  STREAM_LAGS: row(
    'The cursor of the stream is far behind the final blocks of its source.',
    'It reads on, range by range, if a process with the role intake runs.',
    [showStream, nodes],
  ),
  STREAM_WITHOUT_SOURCE: row(
    'The config has no source that is this stream (its chain, its route or its emitter was taken out): nobody looks for what it misses.',
    'Its transfers go on.',
    [showStream, `temporal workflow terminate --workflow-id stream:<stream> ${reason}`],
    'If the source is meant, put it back into the config of the processes with the role intake. If not, the second command takes the stream off the list; it touches no transfer.',
  ),
  GAP_UNSTARTED: row(
    'Messages are here, and their transfers cannot be started: the text says why.',
    'It tries each of them again every few seconds.',
    [showStream, 'portage doctor'],
    'Mend the cause. Do not skip these numbers: each is a good transfer.',
  ),
  GAP_NOT_QUERIED: row(
    'Numbers are known to exist, and their messages were not looked for yet, or no server could be asked.',
    'It asks the guardians for them again and again.',
    [showStream, audit],
    'Is a process with the role intake running, and are the APIs of the guardians there? Do not skip these numbers: nobody knows yet what they are.',
  ),
  GAP_HIDDEN: row(
    "The source's table has transfers that no log showed: a node hides logs, or they are about to be started.",
    'It starts them from the table.',
    [showStream, audit, 'portage node list'],
  ),
  GAP_UNDONE: row('Transfers have to be started again: what had completed them is gone.', 'It starts them again.', [showStream]),
  GAP_UNOBSERVED: row(
    'Messages are final at the source, and no server that was asked has them signed.',
    'It asks for them more and more rarely.',
    [showStream, audit, `portage stream skip <stream> <number> ${reason}`],
    'Skip a number only if it can never come.',
  ),
  GAP_HELD: row("Wormhole's Governor holds messages back.", 'It asks for them again, at every audit at least.', [showStream], 'Wait.'),
  GAP_NOT_FINAL: row(
    'Later messages came earlier: these are not final at the source yet.',
    'It asks for them again, at every audit at least.',
    [showStream],
    'Wait.',
  ),
  RECEIVER_GONE: row(
    'A receiver of notifications has answered 410: it wants no more, and is told nothing.',
    'What happens waits in Temporal, for as long as that keeps closed workflows.',
    [listReceivers, `portage notifications enable <receiver> ${reason}`],
    'Is its `url` still right? If it should not be told any more, take it out of the config.',
  ),
  RECEIVER_UNSERVED: row(
    'No process tells a receiver of notifications what happened.',
    'What happens waits in Temporal, for as long as that keeps closed workflows, and is told once a process serves it.',
    ['portage run --role ledger', listReceivers],
    'A process of the role ledger tells the receivers that its own config has, and needs their secrets: is it started with the same `notifications`?',
  ),
  RECEIVER_FAILING: row(
    'A receiver of notifications does not take what it is told: it does not answer, or refuses.',
    'It tries again, ever more rarely; the other receivers are told.',
    [listReceivers, `portage notifications test <receiver>`],
    'The text has the last error. 401 and 403: does it have the secret that signs? 404 and 3xx: is its `url` right? A test that it takes has the rest sent at once.',
  ),
  RECEIVER_DISABLED: row(
    'A receiver of notifications is disabled by an operator, and is told nothing.',
    'What happens waits in Temporal, for as long as that keeps closed workflows.',
    [`portage notifications enable <receiver> ${reason}`],
    'With `--from-now` what happened meanwhile is left out.',
  ),
  NODE_WRONG_NETWORK: row(
    'A node serves another network than the config says.',
    'It does not use it.',
    [`portage node disable <chain> <node> ${reason}`],
    'Correct its URL in the config.',
  ),
  NODE_DOWN: row('A node does not answer; others of its chain do.', 'It uses the others.', [
    nodes,
    `portage node disable <chain> <node> ${reason}`,
  ]),
  NODE_LAGS: row('A node is blocks behind the others, or far above them.', 'It asks it last.', [nodes]),
  TRANSFERS_SLOW: row('Transfers are in one state for longer than that takes.', 'It goes on trying.', [show, 'portage doctor']),
  TRANSFERS_PARKED: row(
    'Transfers are parked, out of automatic tries: they wait for you.',
    'They are still watched: one that somebody else delivers ends as delivered.',
    [show, retry, `portage transfer cancel <id> ${reason}`],
    'The code says why: [errors.md](../reference/errors.md). Retry once the cause is gone.',
  ),
  TRANSFERS_WAIT: row('Transfers wait for something that passes.', looksAgain, [show], 'The code says what for.'),
  UNREAD: row('A part of the answer could not be read: what it would show is not known.', 'Nothing: this is of the reading alone.', [
    'portage doctor',
  ]),
  DENIED: {
    means: 'Transfers were declined, since their recipient or token is on the deny-list.',
    does: 'They have ended. A retry decides again.',
    next: ['portage settings', `portage allow <kind> <party> ${reason}`],
    isNote: true,
  },
} as const satisfies Record<string, CauseRow>
