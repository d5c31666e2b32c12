import type { ContractReader } from '../../bridges/kit/contract-reader.ts'
import { readView } from '../../bridges/kit/views.ts'
import type { ConfiguredChain } from '../../chains/registry.ts'
import type { Config } from '../../config/schema/schema.ts'
import { within } from '../../runtime/wait.ts'
import { type ErrorCode, RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import type { TemporalAccess } from '../../domain/temporal-access.ts'
import type { ChainName } from '../../domain/transfer/transfer.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { withTemporalClient } from '../../temporal/client/connection/connect.ts'
import { redactText } from '../../observability/redact.ts'
import { withChains } from '../arguments/subjects.ts'

export interface Check {
  readonly area: string
  readonly name: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly detail: string
  readonly remedy?: string
}

export type Finding = string | { readonly status: 'warn' | 'fail'; readonly detail: string; readonly remedy: string }

export const fail = (detail: string, remedy: string): Finding => ({ status: 'fail', detail, remedy })
export const warn = (detail: string, remedy: string): Finding => ({ status: 'warn', detail, remedy })

export const checkTimeoutMs = 10_000

export function checkOf(area: string, name: string, finding: Finding): Check {
  return typeof finding === 'string' ? { area, name, status: 'ok', detail: finding } : { area, name, ...finding }
}

/** Returns no checks if Temporal is unreachable, because checkTemporal reports that already. */
export function ifReachable(temporal: TemporalAccess, use: (client: TemporalClient) => Promise<Check[]>): Promise<Check[]> {
  return withTemporalClient(temporal, use).catch(() => [])
}

/** Returns an error with one of these codes instead of throwing it, so that a check can make a finding of it. */
export function orError<Answer>(answer: Promise<Answer>, ...codes: readonly ErrorCode[]): Promise<Answer | RelayerError> {
  return answer.catch((error: unknown) => {
    if (error instanceof RelayerError && codes.includes(error.code)) return error
    throw error
  })
}

/** Makes a check. An error, or no finding within `checkTimeoutMs`, becomes a failed check with a remedy. */
export async function look(area: string, name: string, at: () => Finding | Promise<Finding>): Promise<Check> {
  try {
    const late = () => {
      throw new Error(`no answer within ${checkTimeoutMs / 1000} s`)
    }
    return checkOf(area, name, await within(checkTimeoutMs, Promise.resolve().then(at), late))
  } catch (thrown) {
    const error = toRelayerError(thrown)
    const { title, about } = error
    const detail = redactText(thrown instanceof RelayerError ? `${title} ${about === title ? '' : about}`.trim() : about)
    return { area, name, status: 'fail', detail, remedy: remedyOf(error) }
  }
}

/** A check that reads a chain. */
export interface ChainCheck extends Pick<Check, 'area' | 'name'> {
  readonly chain: ChainName
  readonly at: (reader: ConfiguredChain) => Finding | Promise<Finding>
}

/** Connects the chains of the checks, and makes the checks as `look` does. Skips chains outside the config. */
export function lookOnChains(config: Config, checks: readonly ChainCheck[]): Promise<Check[]> {
  return withChains(config, (readers) =>
    Promise.all(
      checks.flatMap(({ chain, area, name, at }) => {
        const reader = readers.get(chain)
        return reader ? [look(area, name, () => reader.connect().then(() => at(reader)))] : []
      }),
    ),
  )
}

export function viewsOf(reader: ContractReader) {
  return async (contract: string, view: string, returns: string, ...args: readonly unknown[]): Promise<unknown> =>
    (await readView(reader, { contract, view, returns, args }, 'latest'))[0]
}

/** Remedies for codes whose remedy in the catalogue is to run the doctor. A test finds codes that are missing here. */
const here: Partial<Record<ErrorCode, string>> = {
  NODE_UNAVAILABLE:
    'Check that the node runs and that its url in the config is right (host, port, path, key): it must answer eth_chainId, a POST of JSON, from this machine. Until then name another node in `nodes` of the chain, or run `portage node add`.',
  NODES_DISAGREE:
    'Compare the nodes above with a block explorer. Disable the node that is behind or wrong (run `portage node disable`), and remove dead nodes from the config.',
  SIGNER_OFFLINE:
    'Check that the remote signer or AWS KMS answers from this machine, and that it allows this process to use the key (credentials, policy). Its log may say more.',
}

export function remedyOf({ code, remedy }: Pick<RelayerError, 'code' | 'remedy'>): string {
  return here[code] ?? remedy
}
