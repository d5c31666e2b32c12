import { describe, expect, test } from 'vitest'
import { applyToStream, initialStream, viewStream } from '../../domain/stream/reducer.ts'
import { assertStreamUpdate } from '../../domain/stream/request.ts'
import type { StreamConfig, StreamRequest, StreamState } from '../../domain/stream/stream.ts'

const config: StreamConfig = { stream: 'native-bridge:a:b', origin: '1/0xaa', first: '1', start: 0, maxOpen: 10 }

const configured = (maxOpen: number) => ({ kind: 'configured' as const, stream: config.stream, origin: config.origin, maxOpen })

function tell(state: StreamState, ...requests: StreamRequest[]): StreamState {
  assertStreamUpdate({ requests })
  return applyToStream(state, { requests }, 1_000).state
}
const most = (state: StreamState) => viewStream(state).maxOpen

describe('how many transfers are under way at a time', () => {
  test("the limit of open transfers is the config's, also when this changes", () => {
    const begun = initialStream(config)
    expect(most(begun)).toEqual({ most: 10, configured: 10 })
    const changed = tell(begun, configured(50))
    expect(most(changed)).toEqual({ most: 50, configured: 50 })
    expect(viewStream(changed).room).toBe(50)
  })

  test("an order of a limit outranks the config until it is taken back; then the config's limit holds", () => {
    const ordered = tell(initialStream(config), { kind: 'setMaxOpen', maxOpen: 3, by: 'night-shift' })
    expect(most(ordered)).toEqual({ most: 3, configured: 10, ordered: { by: 'night-shift', at: 1_000 } })
    const changed = tell(ordered, configured(50))
    expect(most(changed)).toEqual({ most: 3, configured: 50, ordered: { by: 'night-shift', at: 1_000 } })
    expect(most(tell(changed, { kind: 'setMaxOpen', by: 'day-shift' }))).toEqual({ most: 50, configured: 50 })
  })

  test("an order of the config's own limit is recorded as an order", () => {
    const ordered = tell(initialStream(config), { kind: 'setMaxOpen', maxOpen: 10, by: 'night-shift' }, configured(50))
    expect(most(ordered)).toMatchObject({ most: 10, configured: 50, ordered: { by: 'night-shift' } })
  })

  test('a limit above the room in the state is refused', () => {
    const begun = initialStream({ ...config, maxOpen: 1_000 })
    expect(most(begun)).toEqual({ most: 360, configured: 360 })
    expect(most(tell(begun, configured(2_000)))).toEqual({ most: 360, configured: 360 })
  })

  test.each<[StreamRequest, string]>([
    [configured(0), 'requests[0].maxOpen'],
    [configured(1.5), 'requests[0].maxOpen'],
    [{ kind: 'setMaxOpen', maxOpen: 5, by: ' ' }, 'requests[0].by'],
  ])('%j is refused', (request, field) => {
    expect(() => assertStreamUpdate({ requests: [request] })).toThrow(field)
  })
})
