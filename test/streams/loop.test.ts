import { expect, test } from 'vitest'
import { RelayerError } from '../../domain/errors.ts'
import { runLoop } from '../../streams/loop.ts'

test('a look at which nothing was due does not say that what failed works again, and the same failure is logged once', async () => {
  const lines: string[] = []
  const note =
    (level: string) =>
    (message: string): void =>
      void lines.push(`${level}: ${message}`)
  const logger = { info: note('info'), warn: note('warn'), debug: note('debug') }
  const stopping = new AbortController()
  const down = (): never => {
    throw new RelayerError('NODE_UNAVAILABLE')
  }
  // As the audit of an emitter's stream while its source has no node: between two tries its ticks do nothing.
  const looks = [down, () => undefined, down, () => undefined, () => false, () => undefined]
  await runLoop({
    name: 'audit',
    stream: 's',
    look: async () => {
      const next = looks.shift()
      if (looks.length === 0) stopping.abort()
      return next?.()
    },
    everyMs: () => 1,
    stopping: stopping.signal,
    logger,
  })
  expect(lines).toEqual([
    'warn: the audit of a stream failed; trying again',
    'debug: the audit of a stream failed; trying again',
    'info: the audit of a stream works again',
  ])
})
