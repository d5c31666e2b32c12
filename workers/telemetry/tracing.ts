import type { Config } from '../../config/schema/schema.ts'
import type { Logger } from '../../observability/logger.ts'
import { useTracing } from '../../observability/tracing.ts'
import type { ProcessTracing } from './otlp.ts'
import type { Role } from '../roles/roles.ts'

export type { ProcessTracing } from './otlp.ts'

/** Sends traces over OTLP if an endpoint is named. Undefined: none, or OTEL_SDK_DISABLED; no OpenTelemetry loaded. */
export async function startTracing(
  { otlpEndpoint, traceRatio }: Config['telemetry'],
  { role, env, logger }: { readonly role: Role; readonly env: NodeJS.ProcessEnv; readonly logger: Logger },
): Promise<ProcessTracing | undefined> {
  const named = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? env['OTEL_EXPORTER_OTLP_ENDPOINT']
  const isOff = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true'
  if (isOff || (!named && otlpEndpoint === undefined)) return undefined
  const { createTracing } = await import('./otlp.ts')
  // The exporter reads the variables itself.
  const tracing = createTracing({ endpoint: named ? undefined : otlpEndpoint, ratio: traceRatio, role, logger })
  useTracing(tracing)
  logger.info('traces are sent over OTLP', { by: named ? 'the environment' : 'telemetry.otlpEndpoint', ratio: traceRatio })
  return tracing
}
