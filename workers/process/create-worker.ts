import { Worker, type WorkerOptions } from '@temporalio/worker'
import { encodedFailures } from '../../temporal/encryption/failures.ts'
import { withEncodedFailures } from './bundle.ts'
import { commonOptions, type Hosting } from './tuning.ts'

type OwnOptions = Omit<WorkerOptions, keyof ReturnType<typeof commonOptions>> & Pick<WorkerOptions, 'sinks'>

/**
 * The one place that makes a Worker: with what every role sets alike, and with the codec of a process that has keys.
 * @param versioning of its workflows, where Workers have versions: workers/process/deployment.ts
 */
export async function createWorker(hosting: Hosting, versioning: 'PINNED' | 'AUTO_UPGRADE', options: OwnOptions): Promise<Worker> {
  const { codec } = hosting.temporal
  const { workflowBundle } = options
  const bundle = codec.encrypts && workflowBundle && 'code' in workflowBundle ? withEncodedFailures(workflowBundle) : workflowBundle
  const worker = await Worker.create({
    ...commonOptions(hosting, versioning),
    ...options,
    ...(bundle && { workflowBundle: bundle }),
    // Without keys none: the codec would have every payload that claims to be encrypted fail a task, whoever sent it and whether it is read or not.
    ...(codec.encrypts && { dataConverter: { payloadCodecs: [codec] } }),
  })
  // The option for it names a file that the SDK loads by itself, which a compiled process does not have.
  if (codec.encrypts) worker.options.loadedDataConverter.failureConverter = encodedFailures
  return worker
}
