import { defaultTuning } from '../../workers/process/create-worker.ts'
import { NativeConnection, Worker } from '@temporalio/worker'
import { fileURLToPath } from 'node:url'

/** Worker process of the yardsticks, tuned like a worker of Portage. Arguments: Temporal's address, task queue. */
const [address = '', taskQueue = ''] = process.argv.slice(2)
const connection = await NativeConnection.connect({ address, grpcCompression: { codec: 'none' } })
const worker = await Worker.create({
  connection,
  taskQueue,
  workflowsPath: fileURLToPath(new URL('./empty-workflows.ts', import.meta.url)),
  activities: { nothing: async () => {} },
  maxCachedWorkflows: defaultTuning.maxCachedWorkflows,
  maxConcurrentWorkflowTaskExecutions: defaultTuning.workflowTasks,
  workflowTaskPollerBehavior: { type: 'simple-maximum', maximum: defaultTuning.workflowPollers },
  activityTaskPollerBehavior: { type: 'simple-maximum', maximum: defaultTuning.lanePollers },
})
process.stdout.write('running\n')
await worker.run()
await connection.close()
