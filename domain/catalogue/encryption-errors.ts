import { retry } from './error-entry.ts'

/** Of payloads that Temporal keeps encrypted. All retriable: a process with the right keys can read what another could not, and no transfer may end because of a key. */
export const encryptionErrors = {
  ENCRYPTION_KEY: retry(
    'A key of temporal.encryption cannot be used.',
    'Give the file or variable that is named the whole key, and nothing else: openssl rand -base64 32 makes one.',
  ),
  ENCRYPTION_KEY_UNKNOWN: retry(
    'A payload in Temporal is encrypted with a key that this process does not have.',
    'Add the key with this id to temporal.encryption.keys, behind the first, and start the process again; until then the workflow waits. An id that you never gave a key is from somebody else who reaches Temporal.',
  ),
  ENCRYPTION_MISSING: retry(
    'A payload in Temporal is not encrypted, and temporal.encryption.required refuses those.',
    'If Portage wrote it before encryption was on, set required to false until that workflow has ended or continued as new. Otherwise somebody without a key has written to Temporal: docs/operate/temporal/stuck-workflows.md, "A workflow is stuck".',
  ),
  ENCRYPTION_BROKEN: retry(
    'A payload in Temporal is not what was encrypted.',
    'Check that all processes have the same key under this id. Otherwise somebody who reaches Temporal has changed or moved it: docs/operate/temporal/stuck-workflows.md, "A workflow is stuck".',
  ),
} as const
