import { type ConnectionOptions, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client'

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number]
type Call = ReturnType<Interceptor>
type Status = Parameters<NonNullable<NonNullable<Parameters<Call['start']>[1]>['onReceiveStatus']>>[0]

/** gRPC's CANCELLED: it is not tried again. */
const cancelled = 1

/**
 * The SDK tries calls again by a timer. One whose connection was closed meanwhile, because nobody waits for its answer
 * any more, would throw in that timer, past everybody: the process would end. It ends as cancelled. A first try throws
 * to its caller, as without this.
 */
export function retries(): Interceptor[] {
  const tried = new WeakSet<object>()
  const guard: Interceptor = (options, nextCall) => {
    if (!tried.has(options)) {
      tried.add(options)
      return nextCall(options) as Call
    }
    try {
      return nextCall(options) as Call
    } catch {
      return endedCall()
    }
  }
  return [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), guard]
}

function endedCall(): Call {
  const call: Pick<Call, 'start' | 'sendMessage' | 'halfClose'> = {
    start(metadata, listener) {
      const status: unknown = { code: cancelled, details: 'the connection is closed', metadata }
      queueMicrotask(() => listener?.onReceiveStatus?.(status as Status))
    },
    sendMessage() {},
    halfClose() {},
  }
  // A retry uses no more of it.
  return call as Call
}
