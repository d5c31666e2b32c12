import type { TemporalClient } from '../../../temporal/client/connection/client.ts'
import { world } from '../clock.ts'
import { never, type Worker } from './host.ts'
import type { Server, StartOptions } from './server.ts'

interface Definition {
  readonly name: string
}

interface UpdateOptions {
  readonly args: readonly [unknown]
  readonly updateId?: string
}

interface StartOperation {
  readonly workflowTypeOrFunc: string
  readonly options: StartOptions
}

const requestLostMs = 2_000

/** The part of Temporal's client that Portage uses. Requests and answers take time and may be lost. */
export function createClient(server: Server, process: Pick<Worker, 'alive'>): TemporalClient {
  const travel = async () => {
    await world.clock.sleep(server.travelMs())
    if (!process.alive) await never()
  }
  const call = async <T>(effect: () => T | Promise<T>): Promise<T> => {
    await travel()
    if (server.isDown || server.loses('request')) {
      await world.clock.sleep(requestLostMs)
      throw server.unavailable()
    }
    // Errors are sent back like values, so they can be lost too.
    const outcome = await Promise.resolve()
      .then(effect)
      .then(
        (value) => () => value,
        (error: unknown) => () => {
          throw error
        },
      )
    await travel()
    if (server.loses('answer')) throw server.unavailable()
    return outcome()
  }
  let updates = 0
  const update = (workflowId: string, { name }: Definition, { args, updateId }: UpdateOptions) =>
    server.open(workflowId).update(updateId ?? `anonymous-${updates++}-${world.chance.next()}`, name, args[0])
  const getHandle = (workflowId: string) => ({
    workflowId,
    executeUpdate: (definition: Definition, options: UpdateOptions) => call(() => update(workflowId, definition, options)),
    query: ({ name }: Definition) => call(() => server.open(workflowId).query(name)),
    signal: (definition: Definition | string, ...args: unknown[]) =>
      call(() => server.signalWith(workflowId, typeof definition === 'string' ? definition : definition.name, args)),
  })
  return {
    options: { namespace: 'simulation' },
    workflow: {
      getHandle,
      start: (type: string, options: StartOptions) => call(() => void server.start(type, options)),
      executeUpdateWithStart: (definition: Definition, given: UpdateOptions & { readonly startWorkflowOperation: StartOperation }) =>
        call(() => {
          const { workflowTypeOrFunc: type, options } = given.startWorkflowOperation
          server.start(type, options)
          return update(options.workflowId, definition, given)
        }),
    },
    workflowService: {
      describeTaskQueue: ({ taskQueue }: { readonly taskQueue: { readonly name: string } }) =>
        call(() => ({ pollers: server.workers.filter((one) => one.alive && one.polls(taskQueue.name, 'activity')).map(pollerOf) })),
    },
    withDeadline: <T>(deadline: number, work: () => Promise<T>): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        const timer = world.clock.after(deadline - world.clock.wall, () => reject(server.late()))
        const end = () => void (timer.cancelled = true)
        work().then(resolve, reject).finally(end)
      }),
  } as unknown as TemporalClient
}

function pollerOf({ name }: Worker) {
  return { identity: name, lastAccessTime: { seconds: Math.floor(world.clock.wall / 1_000), nanos: 0 } }
}
