import { type ConnectionOptions, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client'

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number]
type Call = ReturnType<Interceptor>
type Status = Parameters<NonNullable<NonNullable<Parameters<Call['start']>[1]>['onReceiveStatus']>>[0]

/** gRPC's CANCELLED, which is not retried. */
const cancelled = 1

/** The SDK retries by a timer. On a closed connection that would end the process, so the retry is cancelled. */
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
  // A retry uses no other method.
  return call as Call
}
