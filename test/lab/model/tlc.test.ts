import { expect, test } from 'vitest'
import { readTlc } from '../../../lab/model/tlc.ts'

const result = (stdout: string, code = 0) => readTlc({ stdout, stderr: '', code, timedOut: false })

test('a check without a violation holds, with its counts', () => {
  const stdout = `Model checking completed. No error has been found.
1,549,451 states generated, 54,675 distinct states found, 0 states left on queue.
The depth of the complete state graph search is 24.
Finished in 37s at (2026-11-29 07:08:13)`
  expect(result(stdout)).toEqual({ verdict: { kind: 'holds' }, states: 1_549_451, distinct: 54_675, depth: 24, trace: '' })
})

test('a violated invariant is named, with the steps to it', () => {
  const stdout = `Error: Invariant OneWriter is violated.
Error: The behavior up to this point is:
State 1: <Initial predicate>
/\\ act = <<"Init">>

431 states generated, 120 distinct states found, 9 states left on queue.`
  expect(result(stdout, 12)).toMatchObject({
    verdict: { kind: 'violated', name: 'OneWriter' },
    distinct: 120,
    trace: 'State 1: <Initial predicate>\n/\\ act = <<"Init">>\n',
  })
})

test('a violated property is a violation', () => {
  expect(result('Error: Temporal properties were violated.\n', 13).verdict).toEqual({ kind: 'violated', name: 'Temporal properties' })
})

test('output of TLC that shows neither success nor a violation is a failure', () => {
  expect(result('Error: TLC threw an unexpected exception.\nFile not found.\nFinished in 02s', 0).verdict).toEqual({
    kind: 'failed',
    why: 'Error: TLC threw an unexpected exception.\nFile not found.\nFinished in 02s',
  })
  expect(result('', 0).verdict.kind).toBe('failed')
  expect(result('Model checking completed. No error has been found.', 1).verdict.kind).toBe('failed')
  expect(readTlc({ stdout: '', stderr: '', code: -1, timedOut: true }).verdict).toEqual({ kind: 'failed', why: 'TLC took too long' })
})
