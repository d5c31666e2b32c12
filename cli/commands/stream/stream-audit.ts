import { aboutStream } from '../../../operations/access/subjects.ts'
import { numberOfUnconfigured } from '../../../domain/transfer/transfer.ts'
import { createLogger } from '../../../observability/logger.ts'
import { sourceOf } from '../../../intake/streams/reports.ts'
import type { Call, CommandSpec } from '../../command.ts'
import { facts } from '../../output/output.ts'
import { streamArgument } from '../../arguments/subjects.ts'
import { findStream } from '../../../operations/orders/subjects.ts'
import { orderText } from '../../orders.ts'

export const audit: CommandSpec = {
  ...orderText('stream audit'),
  options: streamArgument,
  run: async ({ context, withOrder }: Call, name: string) => {
    // Imported here, because this module loads slowly and other commands do not need it.
    const { auditNow } = await import('../../../workers/roles/intake.ts')
    const logger = createLogger({ level: 'error', pretty: true, destination: { write: (text) => void context.stderr.write(text) } })
    const { stream, ...found } = await withOrder(async (client, config, allow) => {
      const one = await findStream(client, name)
      allow(aboutStream(one))
      return { ...(await auditNow(client, config, one, logger)), stream: one }
    })
    const { upTo, height, gaps, completed, started, closed, undone } = found
    const withoutNode = numberOfUnconfigured(sourceOf(stream)) !== undefined
    const at = height === undefined ? '' : `, at block ${height}`
    const uncounted = at ? `no count: blocks up to ${height} were read again` : 'nothing yet, or not readable'
    const text = facts({
      stream,
      'source counts up to': upTo === undefined ? (withoutNode ? 'unknown: the config has no node of it' : uncounted) : `${upTo}${at}`,
      'numbers in gaps': gaps,
      'found delivered': completed,
      'started, or started again': started,
      'found ended without delivery': closed,
      'delivered, and undone': undone,
    })
    return { json: { stream, ...found }, text, failed: undone > 0 }
  },
}
