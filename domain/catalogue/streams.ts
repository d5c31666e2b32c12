import { cause, commands, fatal, outage, retry, type CatalogueRow, row } from './row.ts'

const { audit, doctor, nodes, reason, showStream } = commands

export const streamRows = {
  INTAKE_SILENT: {
    title: 'No process with the role intake reports on streams.',
    remedy:
      'Start a process with the role intake. If such a process runs, it hangs or cannot reach the nodes: read its log and restart it.',
    severity: 'chain',
    does: 'Open transfers continue. Streams find new transfers once a process with the role intake runs.',
    next: ['portage run --role intake', 'portage stream list'],
    meaning: 'Normally, a process with the role intake reports at each audit on every stream whose source has a node.',
  },
  STREAM_UNREACHABLE: {
    ...outage('The stream workflow did not answer.', 'Check that a worker serves the queue `ledger`.'),
    ...cause('intake', 'Portage keeps asking the stream.', [showStream], 'Other workflows of the queue `ledger` answer.'),
  },
  STREAM_FORKED: {
    title: 'Final blocks of the source chain differ from those that Portage has read.',
    remedy:
      'Ask the operators of the chain what happened, and audit the deliveries to the chain. If the chain was reorganised, raise its `finality` in the config.',
    severity: 'intake',
    does: 'The stream goes back to the last block that most nodes still have, and reads all later blocks again.',
    next: [showStream, 'portage audit run --chain <chain> --hours 48'],
  },
  STREAM_COUNT: {
    title: "The source's own count, or the target, contradicts the source's logs.",
    remedy: 'Compare the nodes with a block explorer: a node hides logs, or the chain was reorganised. See docs/operate/streams.md.',
    ...cause('intake', 'The stream reads the blocks again, and starts no transfer that the source does not have.', [showStream, audit]),
  },
  STREAM_PAUSED: {
    ...row('An operator has paused the stream, so it takes no new numbers.', 'Resume the stream once the reason for the pause is gone.'),
    ...cause('intake', 'Open transfers of the stream continue.', [`portage stream resume <stream> ${reason}`]),
  },
  STREAM_FULL: {
    title: 'The stream has reached its limit of open transfers: its cursor waits.',
    remedy: 'Find out why the open transfers wait, or raise the limit of the stream.',
    severity: 'intake',
    does: 'The cursor of the stream continues when transfers end.',
    next: ['portage transfer list --state waiting', `portage stream set-max-open <stream> <number> ${reason}`],
  },
  STREAM_LAGS: {
    title: 'The cursor of the stream is far behind the final blocks of its source.',
    remedy: 'Check that a process with the role intake runs, and that the nodes of the source answer.',
    ...cause('intake', 'A process with the role intake continues to read, range by range.', [showStream, nodes]),
  },
  STREAM_WITHOUT_SOURCE: {
    title: 'The config has no source for this stream: its chain, its route or its emitter was removed.',
    remedy:
      'If the source is needed, put it back into the config of the processes with the role intake; otherwise terminate the stream workflow: this removes the stream from the list, and does not affect any transfer.',
    severity: 'intake',
    does: 'The transfers of the stream continue.',
    next: [showStream, `temporal workflow terminate --workflow-id stream:<stream> ${reason}`],
    meaning: 'Portage no longer looks for transfers that the stream has missed.',
  },
  GAP_UNSTARTED: {
    title: 'Messages were received, but their transfers cannot be started.',
    remedy: 'Repair the cause that the text names. Do not skip these numbers: each is a valid transfer.',
    ...cause('intake', 'Portage tries to start each of these transfers every few seconds.', [showStream, doctor]),
  },
  GAP_NOT_QUERIED: {
    title: 'The source has published numbers, but Portage has not yet reached a server that could have their messages.',
    remedy:
      'Check that a process with the role intake runs and that it reaches the APIs of the guardians. Do not skip these numbers: their messages are not known yet.',
    ...cause('intake', 'Portage keeps trying to get these messages from the APIs of the guardians.', [showStream, audit]),
  },
  GAP_HIDDEN: {
    title: "The source contract's table has transfers that no log showed, or an audit has found logs that most nodes had left out.",
    remedy: 'Do nothing if the gap closes by itself; otherwise a node hides logs: compare the nodes, and disable the node that hides them.',
    ...cause('intake', 'Portage starts the hidden transfers.', [showStream, audit, 'portage node list']),
  },
  GAP_UNDONE: {
    title:
      'Transfers must be started again: the transaction that had completed them is gone, or an operator has ordered `portage stream unskip`.',
    remedy: 'Do nothing if an operator ordered `unskip`; otherwise find out what happened to the target chain.',
    ...cause('intake', 'Portage starts the undone transfers again.', [showStream]),
  },
  GAP_UNOBSERVED: {
    title: 'Messages are final at the source, but no server that was asked has their signatures.',
    remedy:
      'Check the spy and the APIs of the guardians, then ask Wormhole. Skip a number only if its message can never be signed: a skipped transfer is not delivered.',
    severity: 'intake',
    does: 'Portage asks the guardians for the missing messages, less and less often.',
    next: [showStream, audit, `portage stream skip <stream> <number> ${reason}`],
  },
  GAP_HELD: {
    ...row("Wormhole's Governor holds messages back.", 'Wait until the Governor releases the messages.'),
    ...cause('intake', 'Portage asks for the held messages again, at least at every audit.', [showStream]),
  },
  GAP_NOT_FINAL: {
    title: 'Messages are not final at the source yet, although messages with higher numbers were received.',
    remedy: 'Wait until the messages are final.',
    ...cause('intake', 'Portage asks for the missing messages again, at least at every audit.', [showStream]),
  },
  STREAM_AUDIT_UNENDED: retry(
    'The audit of the stream ended early, because a process or node did not answer.',
    '`portage stuck` names the cause: the stream has no source, or Temporal, a ledger or a node does not answer. Repair the cause, then audit the stream again. The audit keeps its earlier findings.',
  ),
  CHECKPOINT_INVALID: fatal(
    'The stored checkpoint of the stream is invalid.',
    'Correct or remove the checkpoint, which is a file or an object of the store. Until then, the stream begins without the checkpoint and reads more blocks.',
    { isOutage: true },
  ),
  CHECKPOINT_UNAVAILABLE: outage(
    'The checkpoint of the stream could not be read or written.',
    'Check streams.checkpoints in the config: the folder and its permissions, or the object store.',
  ),
  CHECKPOINT_DENIED: row(
    'The source does not have the block of the checkpoint that a stream began with. The checkpoint is no longer trusted.',
    'Do nothing for the stream: it reads the blocks again. Find out who wrote the checkpoint, or whether the chain was replaced.',
  ),
  LOGS_HIDDEN: row(
    'The source has transfers that no log of its final blocks showed: a node hides logs.',
    'Compare the nodes (run `portage node list`), and disable or replace the node that hides logs. Nothing is lost: the table of the source has the transfers.',
  ),
  COMPLETIONS_UNKNOWN: row(
    'The target completed numbers that the source does not have.',
    'Run `portage stream audit <stream>`, then see docs/runbooks/STREAM_COUNT.md.',
  ),
  SOURCE_COUNT_FELL: row(
    'The source counts fewer transfers than its logs have shown. Portage reads its blocks again.',
    'Run `portage stream show <stream>`, and compare the nodes of the source with a block explorer: a node lies or is on a fork.',
  ),
  SOURCE_FORKED: row(
    'The source was reorganised below finality, or its nodes contradict their earlier answers. Blocks are read again.',
    'Run `portage audit run --chain <chain> --hours 48`, and ask the operators of the chain what happened. See docs/runbooks/STREAM_FORKED.md.',
  ),
  STREAM_BEGAN_OTHERWISE: row(
    'A changed setting in the config applies only when a stream begins, and this stream already runs.',
    'Set the earlier value in the config again, or leave the new value: it has no effect on this stream.',
  ),
  NUMBERS_MISSING: row(
    'Numbers of the stream are missing.',
    '`portage stream show <stream>` says why each number is missing. See docs/runbooks/GAP_UNOBSERVED.md.',
  ),
  TRANSFERS_LOST: row(
    'Numbers that a stream lists as open had no transfer workflow. Portage starts the transfers of these numbers again.',
    'Do nothing if Temporal was wiped or restored; otherwise find out who ends transfers.',
  ),
  AUDIT_MISSING: row(
    'No audit of the deliveries to this chain has finished for three times the audit interval.',
    'Run `portage audit run --chain <chain>`. The error of this command says what the audit waits for.',
  ),
  AUDIT_CORRECTED: row(
    'The audit of a stream found numbers that the stream listed as open although their transfers had ended.',
    'Do nothing: the stream is correct now. If the audit finds such numbers again, find out who ends transfers: run `portage stream show <stream>`.',
  ),
  RUNS_FOREIGN: row(
    'Workflow runs claim numbers of an emitter for which the guardians signed no message. Portage ignores these runs.',
    'Find out who can reach Temporal: Portage did not start these runs. `portage transfer show <first>` shows the first of them.',
  ),
} satisfies Record<string, CatalogueRow>
