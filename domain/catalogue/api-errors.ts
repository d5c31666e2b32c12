import { type CatalogueEntry, fatal, retry } from './error-entry.ts'

/** Errors of requests that people and programs make: over HTTP, or on the command line. */
export const apiErrors = {
  TRANSFER_AMBIGUOUS: fatal('Several transfers match this.', 'Use the whole id of one of the candidates.'),
  IDEMPOTENCY_KEY_REUSED: fatal(
    'This idempotency key was used for another request.',
    'Use a new key for each new request, and the old one only to repeat the very same body.',
  ),
  IDEMPOTENCY_KEY_BUSY: retry(
    'The first request with this idempotency key is still being worked on.',
    'Send the same request again after the time in the Retry-After header.',
  ),
  EVENTS_FULL: retry(
    'As many listen to the events as this process lets.',
    'Close a listener that is not needed, or listen at another process that serves the API.',
  ),
  API_BUSY: retry(
    'This process works on as many requests of this kind as it takes at a time.',
    'Send it again after the time in the Retry-After header, or to another process that serves the API.',
  ),
} as const satisfies Record<string, CatalogueEntry>
