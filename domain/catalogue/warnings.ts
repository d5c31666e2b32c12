/** What a line of the log at warn or error is about that is no error of a request or a step (domain/catalogue/errors.ts): code → what to do. docs/reference/errors.md shows them. */
export const warningCatalogue = {
  // Lanes and keys.
  KEY_USED_ELSEWHERE:
    'Find out who else holds the key of this lane: docs/operate/lanes.md, "A key may have leaked". Two programs must never share a key.',
  FEE_LIMIT_REACHED: 'portage fees show, then raise the limit (portage fees set), or wait until the base fee falls.',
  LANE_KEEPS_TOO_MANY: "Look at the chain's finality (portage node list); if it is only far, add a lane.",
  SIGNATURES_SLOW: 'Make a build of secp256k1 for this platform: npm explore secp256k1 -- npm run install',
  // Nodes.
  HEADERS_UNCHECKED: 'Nothing, if the chain hashes its headers in its own way; else find out who is between this process and the nodes.',
  LOGS_HIDDEN:
    'Compare the nodes (portage node list), and disable or replace the one that hides logs. Nothing is lost: the table of the source has the transfers.',
  // Streams.
  COMPLETIONS_UNKNOWN: 'portage stream audit <stream>; docs/operate/streams.md, "Is anything missed?".',
  SOURCE_COUNT_FELL:
    'portage stream show <stream>, and compare the nodes of the source with a block explorer: a node lies or is on a fork.',
  SOURCE_FORKED:
    'portage audit run --chain <chain> --hours 48, and ask what happened to the chain; docs/operate/streams.md, "After a deep reorg, or a suspicion".',
  CHECKPOINT_DENIED: 'Nothing: the blocks are read again. Find out who wrote the checkpoint, or whether the chain was replaced.',
  STREAM_FOREIGN:
    'Find out who reaches Temporal: it was not started by Portage. temporal workflow describe --workflow-id stream:<predecessor>',
  PREDECESSOR_OPEN:
    'portage stream show <predecessor> says what it has open; then temporal workflow terminate --workflow-id stream:<predecessor>',
  STREAM_BEGAN_OTHERWISE: 'Correct the key in the config, or leave it: it acts where a stream begins.',
  NUMBERS_MISSING: 'portage stream show <stream> says why each is missing; docs/operate/streams.md, "Is anything missed?", what to do.',
  TRANSFERS_LOST: 'Nothing, if Temporal was wiped or restored: they are started again. Else find out who ends them.',
  AUDIT_CORRECTED:
    'Nothing: the stream has it right now. If it comes again and again, look who ends transfers: portage stream show <stream>.',
  RUNS_FOREIGN: 'Find out who reaches Temporal: they were not started by Portage. portage transfer show <first>',
  // The guardian spy.
  SPY_BACKLOG:
    'Mend what keeps messages from being submitted: portage stuck. The spy is read again once there is room; what it told meanwhile is fetched from the guardians.',
  MESSAGES_LEFT: 'Nothing, where their sources have streams, which fetch them; else portage transfer submit.',
  // Transfers and workflows.
  TRANSFER_REOPENED: 'Find out who ends transfers past Portage; to stop one for good: portage transfer cancel.',
  TRANSFER_RESET: 'Nothing, if Temporal was set back or restored; else report it.',
  WORKFLOW_RESET:
    'Find out whether Temporal was set back, or a deployment does not replay: docs/operate/temporal/stuck-workflows.md, "A workflow is stuck".',
  WORKFLOW_STUCK:
    'Read the reason: docs/operate/temporal/stuck-workflows.md, "A workflow is stuck". Roll the version back, or give the process its keys.',
  WORKFLOW_UNANSWERED: 'Check that a worker serves the queue ledger, and that Temporal answers: portage stuck.',
  STEPS_LEFT: 'Nothing: they are done again. If it comes with every stop, raise worker.shutdownForceSeconds.',
  // Settings, tokens, Temporal.
  SETTINGS_OLDER:
    'portage settings: halts, denied parties and revoked tokens are ordered again from the checkpoint; all else is yours to look at.',
  SETTINGS_RESTORED: 'portage settings shows what is in force.',
  SETTINGS_ORDERED_AGAIN: 'portage settings shows what is in force; end what should not be.',
  SETTINGS_CHECKPOINT_UNUSABLE: 'portage halt and portage deny what must not run, then correct or remove the file, or the object.',
  TOKEN_UNLISTED:
    'The next start tries again. Until then only the token itself (portage token revoke --stolen) or removing its key revokes it; portage token list.',
  TEMPORAL_OPEN: 'docs/operate/temporal/server.md, "Temporal: who may reach it".',
  PAYLOADS_PLAIN: 'docs/operate/temporal/encryption.md, "Encrypted payloads".',
  API_KEY_ENDS: 'Make a new one, and put it into the file of temporal.apiKeyFile, which is read again without a restart.',
  SEARCH_ATTRIBUTE_MISSING: 'portage setup temporal',
  VERSION_INACTIVE: 'portage deploy status, then portage deploy promote.',
  TEMPORAL_SDK: 'Nothing, if it passes: the SDK tries again by itself. Else look at Temporal, and at the load of this machine.',
  TRACES_LOST: 'Start the OTLP collector, or correct OTEL_EXPORTER_OTLP_ENDPOINT. Transfers go on.',
  // Notifications.
  RECEIVER_GONE: 'Is its url still right? Then portage notifications enable; else take it out of the config.',
  RECEIVER_FAILING: 'portage notifications list says why; portage notifications test, whether it is back.',
  RUN_FOREIGN:
    'Somebody who is not Portage writes to Temporal: find out who reaches it (SECURITY.md), look at the run, and terminate or delete it if it is not yours.',
  RECEIVER_REFUSES: "Look at the receiver's own log by the id; 401 and 403: does it have the secret? 404 and 3xx: is its url right?",
  NOTIFICATION_GIVEN_UP: 'Mend the receiver, then portage notifications replay.',
  RECEIVER_SECRET_UNUSABLE: 'Put whsec_ and 24 to 64 random bytes in base64 there: echo "whsec_$(openssl rand -base64 32)".',
} as const satisfies Record<string, string>

export type WarningCode = keyof typeof warningCatalogue
