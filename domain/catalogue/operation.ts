import { cause, commands, outage, retry, retryAlone, type CatalogueRow, row, fatal } from './row.ts'

export const operationRows = {
  INTERNAL: {
    ...retryAlone('Something unexpected happened.', 'Read the reason and report it. Retry a parked transfer once the reason is gone.'),
    severity: 'transfers',
    does: 'Portage retries a failing step less and less often. Portage watches parked transfers, but does not retry them.',
    next: [commands.show, commands.retry],
    meaning: 'Because of an error without a code, which is a bug, transfers are parked, or a step of a transfer fails again and again.',
  },
  UNREAD: {
    title: 'Portage could not read everything that this answer needs, so causes may be missing.',
    remedy: 'Run `portage stuck` again. If causes may still be missing, `portage doctor` names the part that does not answer.',
    ...cause('unexplained', 'All work continues: only this answer is incomplete.', [commands.doctor]),
  },
  CONFIG_INVALID: fatal('The config has problems.', 'Correct what the message names.'),
  INPUT_INVALID: fatal('The request has a problem.', 'Correct the part that the message names, and send the request again.'),
  SETUP_INCOMPLETE: fatal('A part that Portage needs is missing.', 'Run `npm run setup`.', { isOutage: true }),
  DATA_FOLDER_UNUSABLE: fatal(
    'The data folder cannot be used.',
    'Check `dataFolder` in the config: the user of the process must be able to write to it, or to create it.',
  ),
  ARCHIVE_UNAVAILABLE: retry(
    'The archive could not be read or written.',
    'Check archive in the config: the folder and its permissions, or the bucket, its region and the credentials. The next pass continues where this pass stopped.',
  ),
  ARCHIVE_INVALID: fatal(
    'A file of the archive does not have the form that Portage writes.',
    'Restore the file from a copy, or move the file elsewhere: the next pass writes the runs that Temporal still has.',
  ),
  TRACES_LOST: row(
    'Traces could not be sent, and are lost. Transfers continue.',
    'Start the OTLP collector, or correct OTEL_EXPORTER_OTLP_ENDPOINT.',
  ),
  API_LISTEN: fatal(
    'The API cannot listen at its address.',
    'Stop the program that listens at this address, or choose another `api.host` or `api.port` in the config.',
  ),
  ADMIN_LISTEN: fatal(
    'This process cannot listen on its admin port, which serves health and metrics.',
    'Stop the program that listens on this port (another process of Portage with the same config?), or choose another `admin.host` or `admin.port` in the config, or `--admin-port`. Port 0 takes any free port.',
  ),
  CODEC_LISTEN: fatal(
    'The codec server cannot listen at its address.',
    'Stop the program that listens at this address, or choose another `codecServer.host` or `codecServer.port` in the config, or `--port`.',
  ),
  API_UNAVAILABLE: retry(
    'The REST API of Portage cannot be reached.',
    'Start the API (run `portage run --role api`), or name its URL with `--api`.',
  ),
  API_BUSY: retry(
    'This process already handles as many requests of this kind as it may.',
    'Send the request again after the time in the Retry-After header, or send it to another process that serves the API.',
  ),
  EVENTS_FULL: retry(
    'This process already serves as many event streams as it may.',
    'Close an event stream that is not needed, or use another process that serves the API.',
  ),
  RATE_LIMITED: retry(
    'Too many requests with this access token, or from this address without a valid token.',
    'Wait as long as the Retry-After header says.',
  ),
  IDEMPOTENCY_KEY_REUSED: fatal(
    'This idempotency key was used for another request.',
    'Use a new key for each new request. Repeat an idempotency key only with the same body.',
  ),
  IDEMPOTENCY_KEY_BUSY: retry(
    'The first request with this idempotency key is still being handled.',
    'Send the same request again after the time in the Retry-After header.',
  ),
  TRANSFER_NOT_FOUND: fatal('No transfer has this id.', '`portage transfer list` shows the known ids.'),
  TRANSFER_IN_GAP: fatal(
    'This transfer has not begun: a stream knows its number, but does not have its message yet.',
    '`portage stream show <stream>` shows the gap, and `portage stuck` shows the reason. The transfer begins once its message is found.',
  ),
  TRANSFER_AMBIGUOUS: fatal('Several transfers match the given id.', 'Use the whole id of one of the candidates.'),
  LANE_NOT_FOUND: fatal('No lane has this id.', '`portage lane list` shows the known lanes.'),
  RECEIVER_NOT_FOUND: fatal(
    'No receiver of notifications has this name, or its notifier has not started.',
    '`portage notifications list` shows the receivers in the config. A process of the role ledger with the same config starts their notifiers.',
  ),
  STREAM_NOT_FOUND: fatal(
    'No stream has this id.',
    '`portage stream list` shows the known streams. A stream is started when the intake first reads its source.',
  ),
  ACCESS_TOKEN_MISSING: fatal(
    'An access token is required.',
    'Over HTTP send `Authorization: Bearer <token>`; on the command line set `PORTAGE_TOKEN`, or give `--token-file`. `portage token create` makes a token.',
  ),
  ACCESS_TOKEN_INVALID: fatal(
    'The access token does not belong to this deployment.',
    'Use a token that was made for this deployment, and whose key has not been removed; `portage token create` makes one.',
  ),
  ACCESS_TOKEN_EXPIRED: fatal('The access token has expired.', 'Get a new token: `portage token create` makes one.'),
  ACCESS_TOKEN_REVOKED: fatal(
    'The access token was revoked.',
    'Ask the administrator of this deployment: `portage token list` shows when and why the token was revoked.',
  ),
  ACCESS_LEVEL: fatal(
    'The level of the access token is too low for this request.',
    'Use a token of the level that the request needs: docs/operate/access.md.',
  ),
  ACCESS_SCOPE: fatal(
    'The access token is not for this chain or lane.',
    'Use a token whose scope includes this chain or lane: `portage token list` shows the scopes.',
  ),
  ACCESS_HOST: fatal(
    'The request names a host that this API does not serve.',
    'If the host is a name of this API, add it to api.hosts in the config.',
  ),
  ACCESS_KEYS: fatal(
    'The keys of the access tokens cannot be used.',
    'Run the command on the machine that has the key file (in the dataFolder of the config), or list the public keys in access.publicKeys.',
  ),
  TOKEN_UNLISTED: row(
    'The first access token is not on the list of tokens.',
    'The next start of `portage run` adds the token to the list. Until then, you can revoke the token with its text (run `portage token revoke --stolen`) or by removing its key.',
  ),
} satisfies Record<string, CatalogueRow>

const { reason } = commands

export const settingsRows = {
  HALTED: {
    ...retry(
      'An operator, or Portage itself, has ordered a halt.',
      'Run `portage unhalt` with the scope that `portage settings` shows. A halt by `portage` means that two contracts of a native route contradict each other: find out why before you end the halt.',
      { passesSoon: true },
    ),
    severity: 'chain',
    does: 'New transfers are accepted, and wait without a nonce. Transactions that were signed before the halt are still mined.',
    next: ['portage settings', `portage unhalt <scope> ${reason}`],
    meaning: 'No key signs anything new for the halted scope.',
  },
  DENIED: {
    title: 'Transfers were declined because of the deny-list, or because the config does not deliver requests that somebody paid for.',
    remedy:
      'Do nothing if the deny-list or the config is right; otherwise remove the rule, or raise the cap of bridges.executor, then run `portage transfer retry`.',
    severity: 'note',
    does: 'These transfers have ended as declined. `portage transfer retry` checks them again.',
    next: ['portage settings', `portage allow <kind> <party> ${reason}`, commands.retry],
  },
  ORDER_NAME_UNKNOWN: {
    ...row(
      'Orders in force name a chain, bridge, lane or node that the config lacks.',
      'If the chain, bridge, lane or node has a new name in the config, give each order again with the new name. Then end the old order (run `portage unhalt`, `portage allow`, `portage fees clear`, `portage tariff`, `portage node enable` or `portage node remove`).',
    ),
    ...cause(
      'note',
      'A halt whose chain or bridge is missing applies to every chain or bridge. A denial whose chain is missing holds back transfers to the recipient on every chain. Other such orders have no effect.',
      ['portage settings'],
    ),
  },
  SETTINGS_UNREACHABLE: outage('The settings workflow did not answer.', 'Check that a worker serves the queue `ledger`.'),
  SETTINGS_OLDER: row(
    'The settings are older than before, or gone: Temporal was wiped or restored.',
    'Portage restores halts, denied parties and revoked tokens from the checkpoint. Run `portage settings`, and check all other settings.',
  ),
  SETTINGS_RESTORED: row(
    'Temporal had no settings. Portage has restored the settings of the checkpoint.',
    '`portage settings` shows the settings.',
  ),
  SETTINGS_ORDERED_AGAIN: row(
    'An order of the checkpoint was missing from the settings, and was given again.',
    'Run `portage settings`, and end the orders that should no longer apply.',
  ),
  SETTINGS_CHECKPOINT_UNUSABLE: row(
    'The checkpoint of the settings cannot be used: halts from before a wipe are not known.',
    'Order the halts and denials again (run `portage halt` and `portage deny`), then correct or remove the file or object of the checkpoint.',
  ),
} satisfies Record<string, CatalogueRow>
