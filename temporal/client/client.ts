import type { Client } from '@temporalio/client'

/**
 * A client of one namespace, to be handed to the functions of this folder. Only this folder looks into it: no other room calls the SDK's methods,
 * catches its errors or names its types.
 */
export type TemporalClient = Client

/** Ends all calls of `work` with an error after `timeoutMs`: without it they wait for as long as no worker, or no server, answers. */
export function within<Result>(client: TemporalClient, timeoutMs: number, work: () => Promise<Result>): Promise<Result> {
  return client.withDeadline(Date.now() + timeoutMs, work)
}
