import { Client, Connection } from '@temporalio/client'
import { expect, test } from 'vitest'
import { RelayerError } from '../../../domain/catalogue/errors.ts'
import { until } from '../../../lab/devnet/until.ts'
import { silentLogger } from '../../../observability/logger.ts'
import { createAgentLoops } from '../../../intake/streams/agent-loops.ts'
import { runLoop } from '../../../intake/streams/loop.ts'

test('an idle step does not end a failure, and a repeated failure is logged once', async () => {
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
  // A step that returns undefined had nothing to do, as in the audit of an emitter's stream whose source has no node.
  const steps = [down, () => undefined, down, () => undefined, () => false, () => undefined]
  await runLoop({
    name: 'audit',
    stream: 's',
    step: async () => {
      const next = steps.shift()
      if (steps.length === 0) stopping.abort()
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

test('the loops of a silent stream stop without a warning of leaked listeners', async () => {
  const warnings: string[] = []
  const note = ({ name }: Error): void => void warnings.push(name)
  process.on('warning', note)
  const source = { config: { stream: 's', origin: '1/0xaa', first: '0', maxOpen: 1 } }
  const client = new Client({ connection: Connection.lazy() })
  const begin = async () => ({ config: source.config })
  const loops = createAgentLoops({ source, client, checkpoints: undefined, logger: silentLogger() }, begin, () => undefined)
  const down = (): never => {
    throw new RelayerError('STREAM_UNREACHABLE')
  }
  let steps = 0
  const step = async () => (steps++, down())
  loops.start(Array.from({ length: 12 }, (_, index) => ({ name: `loop ${index}`, step, everyMs: () => 1 })))
  await until(() => steps > 24, { timeoutMs: 40_000, what: 'each loop to fail twice' })
  await loops.stop()
  process.off('warning', note)
  expect(warnings).toEqual([])
})
