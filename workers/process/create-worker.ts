import { Worker, type WorkerOptions } from '@temporalio/worker'
import { encodedFailures } from '../../temporal/encryption/failures.ts'
import { withEncodedFailures } from './bundle.ts'
import { commonOptions, type Hosting } from './tuning.ts'

type OwnOptions = Omit<WorkerOptions, keyof ReturnType<typeof commonOptions>> & Pick<WorkerOptions, 'sinks'>

/** The only place that creates a Worker. @param versioning of its workflows, if Workers have versions */
export async function createWorker(hosting: Hosting, versioning: 'PINNED' | 'AUTO_UPGRADE', options: OwnOptions): Promise<Worker> {
  const { codec } = hosting.temporal
  const { workflowBundle } = options
  const bundle = codec.encrypts && workflowBundle && 'code' in workflowBundle ? withEncodedFailures(workflowBundle) : workflowBundle
  const worker = await Worker.create({
    ...commonOptions(hosting, versioning),
    ...options,
    ...(bundle && { workflowBundle: bundle }),
    // Only with keys: without them every payload that claims to be encrypted would fail a task.
    ...(codec.encrypts && { dataConverter: { payloadCodecs: [codec] } }),
  })
  // The option names a file for the SDK to load, which a compiled process does not have.
  if (codec.encrypts) worker.options.loadedDataConverter.failureConverter = encodedFailures
  return worker
}
