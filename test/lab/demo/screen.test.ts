import { expect, test, vi } from 'vitest'
import { Screen, screenLines } from '../../../lab/demo/screen.ts'

const seen = ['ethereum → bsc', 'bsc → ethereum'].flatMap((route, at) =>
  Array.from({ length: 5 }, (_, index) => ({
    id: `wormhole-token-bridge:${at}:${'a'.repeat(64)}:${1_234_500 + index}:${'b'.repeat(16)}`,
    key: '',
    state: index === 0 ? ('broadcasting' as const) : ('delivered' as const),
    route,
    lane: `evm-1337:0x${'c'.repeat(40)}`,
    running: index === 0,
    historyEvents: 20,
    stateTransitions: 8,
  })),
)

test('the live view counts each state of each route, in 80 columns', () => {
  const lines = screenLines({ seen, total: 10, sent: 10, elapsedMs: 1_234_567 })
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
  expect(lines.slice(0, 10)).toEqual([
    '[████████████████████████░░░░░░] 8/10 delivered, 10 sent, 1234.6 s',
    '',
    '              bsc → ethereum  ethereum → bsc',
    'admitting                  0               0',
    'waiting                    0               0',
    'broadcasting               1               1',
    'pending                    0               0',
    'included                   0               0',
    'delivered                  4               4',
    'parked                     0               0',
  ])
})

test('without a terminal the demo prints a line only when something has changed', () => {
  const written: string[] = []
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0)
  try {
    const screen = new Screen()
    for (const elapsedMs of [0, 500, 1_000]) screen.draw({ seen: [], total: 10, sent: 0, elapsedMs })
    for (const elapsedMs of [1_500, 2_000]) screen.draw({ seen, total: 10, sent: 10, elapsedMs })
    screen.end()
  } finally {
    write.mockRestore()
  }
  expect(written).toEqual(['0/10 delivered, 0 sent, 0.0 s\n', '8/10 delivered, 10 sent, 1.5 s: 2 broadcasting, 8 delivered\n'])
})
