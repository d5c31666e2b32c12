import { status } from '@grpc/grpc-js'
import { QueryNotRegisteredError, ServiceError, WorkflowExecutionAlreadyStartedError, WorkflowUpdateFailedError } from '@temporalio/client'
import { ApplicationFailure, NamespaceNotFoundError, WorkflowNotFoundError } from '@temporalio/common'
import { SymbolBasedInstanceOfError } from '@temporalio/common/lib/type-helpers.js'
import { describe, expect, test } from 'vitest'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import {
  fromTemporal,
  isAlreadyStarted,
  isForAll,
  isGone,
  isQueryRefused,
  isRefusedArgument,
  isTooLarge,
  isUnavailable,
  updateRefusal,
} from '../../temporal/client/connection/errors.ts'
import { malformedUpdate, runIsFull } from '../../temporal/contracts/names.ts'

function grpc(code: number, details = 'a detail'): ServiceError {
  const cause = Object.assign(new Error(`${code} ${details}`), { code, details, metadata: {} })
  return new ServiceError('Failed to do something', { cause })
}

/** An error of a native connection. Its class has the same name as the client's error class. */
function native(code: number, details = 'a detail'): Error {
  class NativeServiceError extends Error {}
  SymbolBasedInstanceOfError('ServiceError')(NativeServiceError)
  return Object.assign(new NativeServiceError(details), { code, details: '', metadata: {} })
}

const gone = new WorkflowNotFoundError('not found', 'an id', undefined)
const codes = { gone: 'STREAM_NOT_FOUND', unserved: 'STREAM_UNREACHABLE' } as const

describe('errors of the Temporal client', () => {
  test('each error of the Temporal client has a kind', () => {
    const errors = {
      gone,
      unavailable: grpc(status.UNAVAILABLE),
      noPoller: grpc(status.FAILED_PRECONDITION),
      deadline: grpc(status.DEADLINE_EXCEEDED),
      started: new WorkflowExecutionAlreadyStartedError('started', 'an id', 'transfer'),
      unknownQuery: new QueryNotRegisteredError('no such query', status.INVALID_ARGUMENT),
      other: new Error('a bug'),
    }
    const which = (holds: (error: unknown) => boolean) => Object.entries(errors).flatMap(([name, error]) => (holds(error) ? [name] : []))
    expect(which(isGone)).toEqual(['gone'])
    expect(which(isUnavailable)).toEqual(['unavailable'])
    expect(which(isAlreadyStarted)).toEqual(['started'])
    expect(which(isQueryRefused)).toEqual(['unknownQuery'])
  })

  test('values that are too large are refused for ever, and other arguments are not', () => {
    const blob = 'Blob data size exceeds limit.'
    expect([grpc(status.INVALID_ARGUMENT, blob), native(status.INVALID_ARGUMENT, blob)].map(isTooLarge)).toEqual([true, true])
    expect(isTooLarge(grpc(status.RESOURCE_EXHAUSTED, 'grpc: received message larger than max (4500000 vs. 4194304)'))).toBe(true)
    const answers = [
      grpc(status.RESOURCE_EXHAUSTED, 'Received message larger than max (134217800 vs 134217728)'),
      grpc(status.RESOURCE_EXHAUSTED, 'Received message that decompresses to a size larger than 134217728'),
      native(status.OUT_OF_RANGE, 'Error, decoded message length too large: found 134217800 bytes, the limit is: 134217728 bytes'),
    ]
    expect(answers.map(isTooLarge)).toEqual([true, true, true])
    expect(isTooLarge(grpc(status.RESOURCE_EXHAUSTED, 'namespace rate limit exceeded'))).toBe(false)
    const others = [grpc(status.INVALID_ARGUMENT, 'Namespace has no mapping for search attribute'), grpc(status.UNAVAILABLE, blob), gone]
    expect(others.map(isTooLarge)).toEqual([false, false, false])
  })

  test.each([
    ['an unknown workflow', gone, codes, 'STREAM_NOT_FOUND'],
    ['a server that does not answer', grpc(status.UNAVAILABLE), codes, 'TEMPORAL_UNAVAILABLE'],
    ['a queue without a worker', grpc(status.FAILED_PRECONDITION), codes, 'STREAM_UNREACHABLE'],
    ['a queue without a worker, where that has no code', grpc(status.DEADLINE_EXCEEDED), {}, 'TEMPORAL_UNAVAILABLE'],
    ['anything else, where the workflow has a code', new Error('a bug'), codes, 'STREAM_UNREACHABLE'],
  ])('the error %s has a code', (_, error, of, code) => {
    const known = fromTemporal(error, of, { stream: 'a stream' })
    expect(known).toBeInstanceOf(RelayerError)
    expect(known).toMatchObject({ code, facts: { stream: 'a stream' }, cause: error })
  })

  test.each([
    [status.PERMISSION_DENIED, 'TEMPORAL_PERMISSION'],
    [status.UNAUTHENTICATED, 'TEMPORAL_API_KEY_REFUSED'],
    [status.UNAVAILABLE, 'TEMPORAL_UNAVAILABLE'],
  ])("errors of calls outside the SDK's methods are the same over a native connection: %s", (code, wanted) => {
    for (const error of [grpc(code), native(code)]) {
      expect(fromTemporal(error, {})).toMatchObject({ code: wanted, about: 'a detail' })
      expect([isForAll(error), isRefusedArgument(error)]).toEqual([true, false])
    }
    expect([isRefusedArgument(native(status.INVALID_ARGUMENT)), isRefusedArgument(grpc(status.INVALID_ARGUMENT))]).toEqual([true, true])
  })

  test('a missing namespace and a missing workflow are distinguished over any connection', () => {
    const missing = 'Namespace nowhere is not found.'
    for (const make of [grpc, native])
      expect(fromTemporal(make(status.NOT_FOUND, missing), codes)).toMatchObject({ code: 'TEMPORAL_NAMESPACE' })
    expect(fromTemporal(new NamespaceNotFoundError('nowhere'), codes)).toMatchObject({ code: 'TEMPORAL_NAMESPACE' })
    const other = grpc(status.NOT_FOUND, `workflow not found for ID: ${missing}`)
    expect(fromTemporal(other, {})).toMatchObject({ code: 'TEMPORAL_UNAVAILABLE' })
  })

  test("an error that is not the server's, or has a code, is returned unchanged", () => {
    const bug = new Error('a bug')
    const coded = new RelayerError('INPUT_INVALID', { detail: 'a field' })
    expect([fromTemporal(bug, {}), fromTemporal(gone, {}), fromTemporal(coded, codes)]).toEqual([bug, gone, coded])
  })

  test('a code of the server carries its detail, without secrets', () => {
    const error = fromTemporal(grpc(status.UNAVAILABLE, 'no connection to https://user:secret@temporal.example/key'), {})
    expect(error).toMatchObject({ message: expect.stringContaining('no connection to') })
    expect(String(error)).not.toContain('secret')
    expect(String(error)).not.toContain('Failed to do something')
  })

  test('a refused update says which kind it is', () => {
    const refused = (type: string) => new WorkflowUpdateFailedError('refused', ApplicationFailure.nonRetryable('why', type))
    expect(updateRefusal(refused(malformedUpdate))).toEqual({ kind: 'malformed', detail: 'why' })
    expect(updateRefusal(refused(runIsFull))).toEqual({ kind: 'full', detail: 'why' })
    expect([updateRefusal(refused('OTHER')), updateRefusal(gone), updateRefusal(undefined)]).toEqual([undefined, undefined, undefined])
  })
})
