import { assertStreamUpdate } from '../../domain/stream/request.ts'
import { describe, expect, test } from 'vitest'

const scanned = { kind: 'scanned', from: 1, to: 2, parentHash: 'a', hash: 'b', numbers: [['1', 1]], passed: [] }

describe('a request to a stream', () => {
  test.each([
    [{ kind: 'unknown' }, 'requests[0].kind'],
    [{ ...scanned, hash: '' }, 'requests[0].hash'],
    [{ ...scanned, to: 0 }, 'requests[0].to'],
    [{ ...scanned, numbers: [['1', 3]] }, 'requests[0].numbers[0][1]'],
    [{ ...scanned, passed: undefined }, 'requests[0].passed'],
    [{ ...scanned, passed: [['2', '1']] }, 'requests[0].passed[0]'],
    [{ ...scanned, numbers: [['1']] }, 'requests[0].numbers[0][1]'],
    [{ ...scanned, numbers: [['01', 1]] }, 'requests[0].numbers[0][0]'],
    [{ kind: 'seen', numbers: [['18446744073709551616']] }, 'requests[0].numbers[0][0]'],
    [{ kind: 'seen', numbers: [], delivered: [['2', '1']] }, 'requests[0].delivered[0]'],
    [
      {
        kind: 'completed',
        from: 1,
        to: 1,
        numbers: [
          ['1', '2'],
          ['3', '4'],
        ],
      },
      'requests[0].numbers[1]',
    ],
    [{ kind: 'audited', upTo: '1', height: 0.5, present: [] }, 'requests[0].height'],
    [{ kind: 'closed', number: '1', outcome: 'cancelled', reason: 'x' }, 'requests[0].by'],
    [{ kind: 'closed', number: '1', outcome: 'delivered', reason: 'x' }, 'requests[0].outcome'],
    [{ kind: 'parked', number: '1', code: 'no code' }, 'requests[0].code'],
    [{ kind: 'skip', number: '1', by: 'ops', reason: ' ' }, 'requests[0].reason'],
    [{ kind: 'classified', from: '1', to: '1', state: 'hidden' }, 'requests[0].state'],
    [{ kind: 'setMaxOpen', maxOpen: 0, by: 'ops' }, 'requests[0].maxOpen'],
    [{ kind: 'trust', number: '1', height: -1, by: 'ops' }, 'requests[0].height'],
    [{ kind: 'reread', block: { height: 1 }, by: 'ops' }, 'requests[0].block.hash'],
  ])('a request to a stream is refused with the field that is wrong: %j', (request, field) => {
    expect(() => assertStreamUpdate({ requests: [request] })).toThrow(`${field}:`)
  })

  test('a well-formed request to a stream is accepted, up to the highest possible number', () => {
    const requests = [scanned, { kind: 'seen', numbers: [['18446744073709551615']] }, { kind: 'resume' }]
    expect(() => assertStreamUpdate({ requests })).not.toThrow()
  })
})
