import { cause, commands, does, fatal, outage, retry, type CatalogueRow, row } from './row.ts'

const { doctor } = commands

export const temporalRows = {
  TEMPORAL_UNAVAILABLE: {
    ...outage(
      'The Temporal server cannot be reached.',
      'Check temporal.address in the config and that the server runs. Restart a server that runs and does not answer.',
    ),
    severity: 'everything',
    does: 'Every process tries to reach Temporal every few seconds. Messages from the spy are kept in memory. If a process ends, streams fetch its messages from the guardians.',
    next: [doctor],
    meaning:
      'No transfer starts or continues. If a certificate, key, permission or namespace is wrong, `portage stuck` shows the code of that fault instead.',
  },
  LEDGER_WITHOUT_WORKER: {
    title: 'No process with the role ledger answers.',
    remedy: 'Start a process with the role ledger, or promote the version of the running processes.',
    severity: 'everything',
    does: does.keeps,
    next: ['portage run --role ledger', commands.promote],
    meaning: 'No lane grants a nonce, no stream advances, and no setting can be read or changed.',
  },
  WORKFLOW_FAILING: {
    title: 'The task of a workflow fails again and again.',
    remedy: 'Read the reason in the log or the Web UI. Roll the version back, or give the process the keys that it lacks.',
    severity: 'lane',
    does: 'Portage resets a workflow whose code does not fit its history. Temporal retries the tasks of all other workflows.',
    next: ['temporal workflow describe --workflow-id <workflow>', doctor],
    meaning: 'The reason is a bug, a key that a process lacks, or a version that should not run.',
  },
  TEMPORAL_NAMESPACE: outage(
    'The Temporal server does not have the namespace.',
    'Check temporal.namespace in the config, or create it: run `portage setup temporal`.',
  ),
  TEMPORAL_TLS: outage(
    'The Temporal server requires TLS, and Portage connects in plain text.',
    'Set temporal.tls in the config ({} if a public CA signed the certificate), or TEMPORAL_TLS=true.',
  ),
  TEMPORAL_NO_TLS: outage(
    'The Temporal server does not speak TLS, and Portage connects with TLS.',
    'Correct temporal.address, or enable TLS at the server. For plain text set temporal.tls.disabled: true, or TEMPORAL_TLS=false.',
  ),
  TEMPORAL_UNTRUSTED: outage(
    "The Temporal server's certificate is not trusted.",
    'Name the CA that signed the certificate: temporal.tls.caFile, or TEMPORAL_TLS_SERVER_CA_CERT_PATH. If only the name in the certificate differs, set temporal.tls.serverName.',
  ),
  TEMPORAL_CERTIFICATE_REFUSED: outage(
    'The Temporal server requires a certificate, and Portage sent no certificate or one that the server refuses.',
    'Use a valid certificate signed by a CA of the server: temporal.tls.certificateFile and keyFile, or TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH.',
  ),
  TEMPORAL_CREDENTIALS: outage(
    'A certificate, key or API key for Temporal cannot be used.',
    'Correct the file or variable that the message names: a PEM certificate and its PEM key, or the bare text of an API key.',
  ),
  TEMPORAL_API_KEY_REFUSED: outage(
    "The Temporal server does not accept Portage's API key.",
    'The API key is wrong, has expired, or belongs to another account. Put a new key into temporal.apiKeyFile, which is read again without a restart, or into TEMPORAL_API_KEY.',
  ),
  TEMPORAL_PERMISSION: outage(
    'The Temporal server does not permit this request in the namespace.',
    'Give the API key or certificate access to the named namespace: write for workers and orders, read for queries. An expired API key is refused in the same way.',
  ),
  TEMPORAL_OPEN: row(
    'Portage connects to Temporal without credentials, or sends an API key in plain text.',
    'Require client certificates or an API key at the Temporal server, and set temporal.tls in the config.',
  ),
  TEMPORAL_SDK: row(
    "Temporal's SDK reports a problem.",
    'Do nothing if the problem passes: the SDK retries by itself; otherwise check Temporal and the load of this machine.',
  ),
  API_KEY_ENDS: row(
    'The API key of Temporal expires soon.',
    'Create a new API key, and put it into the file of temporal.apiKeyFile, which is read again without a restart.',
  ),
  VERSION_INACTIVE: {
    ...row('This version of the workers gets no new work.', 'Run `portage deploy status`, then `portage deploy promote`.'),
    ...cause('note', 'The current version does all work.', ['portage deploy status', commands.promote]),
  },
  QUEUE_UNPOLLED: fatal(
    'This process serves a task queue of Temporal, but no longer polls it.',
    'The process ends by itself. If no supervisor (systemd, Kubernetes) restarts the process, start it again. Keep the log of the process: this is a bug.',
  ),
  STEPS_LEFT: row(
    'Steps did not end within the shutdown time, and are left to other processes.',
    'Do nothing: the steps run again. If steps are left at every stop, raise worker.shutdownForceSeconds.',
  ),
  WORKFLOW_RESET: row(
    'Portage reset a workflow to its first task, and Temporal applied its signals and updates again.',
    'Find out whether Temporal was restored to an earlier state, or whether a deployment has code that cannot replay earlier histories: docs/runbooks/WORKFLOW_RESET.md.',
  ),
  WORKFLOW_STUCK: row(
    'The task of a workflow fails again and again, and a reset does not help.',
    'Read the reason in the log. Roll the version back, or give the process its keys: docs/runbooks/WORKFLOW_FAILING.md.',
  ),
  WORKFLOW_UNANSWERED: row(
    'A workflow did not answer an update. Portage sends the update again.',
    'Check that a worker serves the queue `ledger` and that Temporal answers: run `portage stuck`.',
  ),
  PROCESS_NOT_READY: row(
    'No process of a role is ready, or some processes of a role wait for something.',
    '`GET /readyz` at the admin port of a process says what the process waits for.',
  ),
  RUN_UNRECOVERED: row(
    'A run in Temporal cannot be read, started again or reset. All other runs are handled.',
    'Look at the run in the Temporal Web UI. If its payload key was removed from temporal.encryption, add the key again. If Portage did not write the run, find out who can reach Temporal (SECURITY.md), and terminate or delete the run.',
  ),
  // All errors of encryption are retriable, because another process may have the right key.
  ENCRYPTION_KEY: retry(
    'A key of temporal.encryption cannot be used.',
    'Put the whole key, and nothing else, into the named file or variable: `openssl rand -base64 32` makes one.',
  ),
  ENCRYPTION_KEY_UNKNOWN: retry(
    'A payload in Temporal is encrypted with a key that this process does not have.',
    'Add the key with this id to temporal.encryption.keys, after the first key, and restart the process. The workflow waits until then. If you never used this id, somebody else can write to Temporal.',
  ),
  ENCRYPTION_MISSING: retry(
    'A payload in Temporal is not encrypted, and temporal.encryption.required refuses such payloads.',
    'If Portage wrote the payload before encryption was enabled, set required to false until the workflow of the payload has ended or continued as new; otherwise somebody without a key has written to Temporal: docs/runbooks/WORKFLOW_FAILING.md.',
  ),
  ENCRYPTION_BROKEN: retry(
    'A payload in Temporal cannot be decrypted with the key that it names.',
    'Check that all processes have the same key under this key id. If they have, somebody who can reach Temporal has changed or moved the payload: docs/runbooks/WORKFLOW_FAILING.md.',
  ),
  PAYLOADS_PLAIN: row(
    'Payloads in Temporal are not encrypted.',
    'Set temporal.encryption in the config, with the same key in all processes.',
  ),
} satisfies Record<string, CatalogueRow>
