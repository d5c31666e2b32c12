import { cause, commands, fatal, outage, retry, retryAlone, type CatalogueRow, row } from './row.ts'

const inspect = ['portage plugin list', commands.show]

export const messageRows = {
  MESSAGE_ENCODING: fatal('The message is neither base64 nor hex.', 'Send the VAA bytes as base64 or as hex.'),
  MESSAGE_MISMATCH: fatal(
    'The message does not belong to this transfer.',
    'Send the signed bytes of the message that the transfer id names.',
  ),
  MESSAGE_TOO_LARGE: fatal(
    'The message or its call is larger than Portage accepts.',
    'Redeem the message without Portage: `portage transfer submit` has the same size limit. Most nodes do not accept a call of this size into their pools.',
  ),
  VAA_TRUNCATED: fatal('The VAA ends before its last field.', 'Fetch the VAA again and send all of its bytes.'),
  VAA_VERSION: fatal('The VAA version is not 1.', 'Only version 1 VAAs exist on the networks that Portage serves.'),
  VAA_SIGNATURE_ORDER: fatal('Guardian indices are not strictly ascending.', 'Fetch the VAA from a guardian; these bytes were altered.'),
  VAA_GUARDIAN_INDEX: fatal('A guardian index is outside the guardian set.', 'Fetch the VAA from a guardian; these bytes were altered.'),
  VAA_SIGNATURE_INVALID: fatal('A signature does not recover to its guardian.', 'Fetch the VAA from a guardian; these bytes were altered.'),
  VAA_NO_QUORUM: fatal('Fewer guardians signed than a quorum needs.', 'Fetch a VAA with at least floor(2n/3)+1 signatures.'),
  VAA_NOT_FOUND: retryAlone(
    'No guardian API has a signed VAA for this sequence.',
    'Wait for finality on the source chain, then ask again.',
  ),
  GUARDIAN_SET_EXPIRED: fatal(
    'The guardian set that signed this VAA has expired.',
    'Fetch a copy of the VAA that the current guardian set has signed, and send this copy.',
    { awaitNewSignatures: true },
  ),
  GUARDIAN_SET_UNKNOWN: {
    title: 'The target core contract does not know this guardian set yet.',
    remedy: 'Wait until the guardian set upgrade is submitted to the core contract of the target chain.',
    retriable: true,
    severity: 'transfers',
    does: 'For a day, Portage tries to submit the messages of this guardian set. After that, streams fetch them from the guardians.',
    next: [commands.doctor, 'portage stream list'],
  },
  GUARDIAN_SET_IMPOSSIBLE: fatal(
    'The number of the guardian set is more than one above the newest set that the target knows.',
    'The target accepts guardian sets one after the other: fetch the VAA from a guardian, or wait until the target chain has the preceding set.',
  ),
  PAYLOAD_KIND: fatal(
    'No bridge in the config delivers this payload.',
    'Portage delivers payloads 1 and 3 of the token bridge, and the messages of bridges.receivers and of plug-ins. If no route has this emitter, add one. If the route of a plug-in has this emitter, send the message to the author of the plug-in.',
  ),
  PAYLOAD_LENGTH: fatal(
    'The payload has the wrong length for its kind.',
    'Fetch the VAA again. A payload 1 of the token bridge has exactly 133 bytes; the lengths inside a message of NTT must add up.',
  ),
  PLUGIN_INVALID: {
    ...retry(
      'A plug-in is refused: its file, its settings or its routes do not fit this version of Portage and this config.',
      'Correct the part that the reason names, run `portage plugin add` again, and restart the processes.',
      { isOutage: true, waitsForItself: true },
    ),
    ...cause('transfers', 'Only the messages of this plug-in wait.', inspect),
  },
  PLUGIN_CHANGED: {
    ...retry(
      'A plug-in is not the one that the config names: its file, or the routes that it makes from its settings, have changed.',
      'Restore the file, or accept the change: run `portage plugin add` again, read its routes, and restart the processes.',
      { isOutage: true, waitsForItself: true },
    ),
    ...cause('transfers', 'Only the messages of this plug-in wait. The code of the plug-in does not run.', inspect),
  },
  PLUGIN_FAILED: {
    ...retryAlone(
      'A plug-in failed: it threw an error, took too long, or returned something that is not allowed.',
      'Report the reason to the author of the plug-in. Add the corrected file with `portage plugin add`, and restart the processes.',
    ),
    ...cause('transfers', 'Only the messages of this plug-in wait. Portage runs the plug-in again.', inspect),
  },
  PLUGIN_DECLINED: fatal(
    'A plug-in declined the message by its own policy.',
    'Read the reason. To deliver the message, change the settings of the plug-in with `portage plugin add`, restart the processes, and run `portage transfer retry`.',
  ),
  EMITTER_UNKNOWN: fatal(
    'The contract of the target does not accept the emitter of the message.',
    'Check that the message comes from the emitter that the contract has registered: for the token bridge, that of the source chain.',
  ),
  NATIVE_MESSAGE: fatal(
    'The bytes are not the message of a native bridge transfer.',
    'Send the transfer as the source contract recorded it. Portage makes these messages itself from the table and events of the contract.',
  ),
  NATIVE_ID_MISMATCH: fatal(
    'The id of a native bridge transfer is not the hash of its content.',
    'Nothing was sent. Compare the message with the source contract: `noncesToOutboundTransfers` of this nonce.',
    { haltRoute: true },
  ),
  NATIVE_TABLE_MISMATCH: fatal(
    'The source contract recorded another transfer under the nonce of this message.',
    'Nothing was sent. If only one transfer has this code, find out who made its message. If a stream found the difference, the route is halted: find out whether the source chain was reorganised below finality.',
    { haltRoute: true, isOutage: true },
  ),
  NATIVE_NONCE_MISMATCH: fatal(
    'The target contract completed the id of this transfer under another nonce.',
    'The route is halted. Compare both contracts: `noncesToOutboundTransfers` of the nonce, `idsToInboundNonces` of the id.',
    { haltRoute: true, isOutage: true },
  ),
  NATIVE_ROUTE_UNKNOWN: fatal('No route of the native bridge starts at this contract.', 'Configure the route, or ignore this transfer.'),
  PLACE_NOT_FINAL: retry(
    'The block of the message is not final on the source chain yet.',
    'Wait until the block is final. Portage then compares the message with the log at its place.',
  ),
  PLACE_MISMATCH: fatal(
    'The source chain has no log with this message at the place that the message names.',
    'Send the message as the log shows it. If a stream started the transfer, the source chain was reorganised: the stream starts a transfer for the new place.',
  ),
  CCTP_MESSAGE: fatal(
    'The bytes are not a CCTP message in the form that Portage uses.',
    "Send the message as the source's MessageTransmitter logged it. Portage makes these messages itself from the logs.",
  ),
  CCTP_NOT_ATTESTED: retryAlone(
    'Circle has not attested this message at the finality that the message requires.',
    "Wait for finality on the source chain. The field `delayReason` of Circle's API names the reason for a delay.",
  ),
  CCTP_ATTESTATION: retryAlone(
    'The attestation does not fit the attesters of the target contract.',
    'Compare `getEnabledAttester` and `signatureThreshold` of the target contract with the attestation. Portage asks for another attestation.',
  ),
  CCTP_EXPIRED: retryAlone(
    'The attestation of a fast message has expired on the target chain.',
    'Wait: Portage asks Circle to attest the message again.',
  ),
  CCTP_CALLER: fatal(
    'The message names the only account that may deliver it, and no lane of the target chain has this account.',
    'Deliver the message from the account that the message names, or add a lane with this account.',
  ),
  CCTP_UNPAID: fatal(
    'Portage delivers only burns whose sender or recipient the config lists, and the config lists neither for this burn.',
    'List the sender or the recipient in bridges.cctp, or deliver all burns (`free: true`).',
  ),
  IRIS_UNAVAILABLE: outage(
    'No attestation API of Circle answers, or all of them have asked Portage to wait.',
    'Check that the attestation APIs in the config can be reached. After more than 35 requests in a second, Circle refuses all requests for 5 minutes.',
  ),
  SPY_UNAVAILABLE: {
    ...outage(
      'The guardian spy cannot be reached, or Portage does not read from it.',
      'Check that the spy runs, that bridges.wormhole-token-bridge.spies names it, and that a process with the role intake can reach it.',
    ),
    severity: 'intake',
    does: 'Portage tries to connect again. Streams count the messages that their sources have published, and fetch missing messages.',
    next: [commands.doctor, 'portage stream list'],
    meaning: 'Portage gets messages late, from the APIs of the guardians.',
  },
  SPY_SILENT: {
    title: 'The guardian spy is connected but sends nothing.',
    remedy: 'Restart the spy: a spy that has lost its peers stays connected and sends nothing.',
    severity: 'intake',
    does: 'The subscription stays open. Each audit of a stream counts the messages that its source has published, and fetches missing messages.',
    next: [commands.doctor, 'portage stream list'],
    meaning: "Portage gets messages late, from the guardians' APIs. The next message from the spy, or a new subscription, ends the cause.",
  },
  SPY_BACKLOG: row(
    'Too many messages wait to be submitted, so Portage does not read from the spy.',
    'Run `portage stuck`, and repair the cause that keeps messages from being submitted. When fewer messages wait, Portage reads from the spy again, and fetches missed messages from the guardians.',
  ),
  MESSAGES_LEFT: row(
    'The process stopped before these messages could be submitted.',
    'Do nothing if their sources have streams: the streams fetch the messages; otherwise run `portage transfer submit`.',
  ),
} satisfies Record<string, CatalogueRow>
