import { Client, type CompiledWorkflowOptions, type ConnectionLike, type WorkflowClientInterceptor } from '@temporalio/client'
import { NamespaceNotFoundError, type PayloadCodec } from '@temporalio/common'
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow/index.js'
import { msToTs } from '@temporalio/common/lib/time.js'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import type { StreamNames } from '../../../domain/stream/stream.ts'
import type { TemporalAccess } from '../../../domain/temporal-access.ts'
import { defaultFailoverTimes, type FailoverTimes } from '../../contracts/failover.ts'
import { createEncryptionCodec } from '../../encryption/codec.ts'
import { readableMemos, useReadableLists } from '../visibility/memos.ts'
import { withLimits } from './answer-limits.ts'
import type { AnswerBudget, TemporalClient } from './client.ts'
import { detailOf, refusalCode } from './errors.ts'
import { openConnection } from './probe.ts'

const defaultWorkflowTaskSeconds = 10

export type FailoverSettings = Readonly<Record<'workflowTaskSeconds' | 'heartbeatSeconds' | 'laneTaskSeconds', number>>

interface ClientOptions {
  readonly codec: PayloadCodec
  readonly streamNames?: StreamNames | undefined
  readonly failover?: FailoverSettings | undefined
  readonly tracing?: WorkflowClientInterceptor | undefined
  readonly budget?: AnswerBudget | undefined
}

export function createTemporalClient(connection: ConnectionLike, namespace: string, options: ClientOptions): TemporalClient {
  const { codec, streamNames, failover, tracing, budget } = options
  const dataConverter = loadDataConverter({ payloadCodecs: [withLimits(codec, budget)] })
  const memos = readableMemos(dataConverter, namespace)
  const workflow = [...(tracing ? [tracing] : []), ...(failover ? [failoverInterceptor(failover)] : []), memos]
  const client = new Client({ connection, namespace, dataConverter, interceptors: { workflow } })
  useReadableLists(client)
  const withBudget = (given: AnswerBudget) => createTemporalClient(connection, namespace, { ...options, budget: given })
  return Object.assign(client, { streamNames, budget, withBudget })
}

/** Throws ENCRYPTION_KEY and the errors of `probeTemporal`. */
export async function withTemporalClient<Result>(
  target: TemporalAccess & { readonly failover?: FailoverSettings },
  use: (client: TemporalClient) => Promise<Result>,
): Promise<Result> {
  const { address, namespace, streamNames, failover } = target
  const codec = createEncryptionCodec(target.encryption)
  const connection = await openConnection(target)
  try {
    return await use(createTemporalClient(connection, namespace, { codec, streamNames, failover }))
  } catch (error) {
    const about = { facts: { address, namespace }, cause: error }
    if (error instanceof NamespaceNotFoundError) throw new RelayerError('TEMPORAL_NAMESPACE', about)
    const refused = refusalCode(error)
    throw refused ? new RelayerError(refused, { detail: detailOf(error), ...about }) : error
  } finally {
    await connection.close()
  }
}

export function failoverInterceptor({
  heartbeatSeconds,
  laneTaskSeconds,
  workflowTaskSeconds,
}: FailoverSettings): WorkflowClientInterceptor {
  const failover: FailoverTimes = { heartbeatMs: heartbeatSeconds * 1_000, laneTaskMs: laneTaskSeconds * 1_000 }
  const isDefault = failover.heartbeatMs === defaultFailoverTimes.heartbeatMs && failover.laneTaskMs === defaultFailoverTimes.laneTaskMs
  const workflowTaskTimeout = workflowTaskSeconds === defaultWorkflowTaskSeconds ? undefined : msToTs(workflowTaskSeconds * 1_000)
  const extended = (options: CompiledWorkflowOptions): CompiledWorkflowOptions => ({
    ...options,
    ...(workflowTaskTimeout && { workflowTaskTimeout }),
    ...(!isDefault && { memo: { ...options.memo, failover } }),
  })
  return {
    startWithDetails: (input, next) => next({ ...input, options: extended(input.options) }),
    startUpdateWithStart: (input, next) => next({ ...input, workflowStartOptions: extended(input.workflowStartOptions) }),
  }
}
