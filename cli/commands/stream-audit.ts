import type { Command } from 'commander'
import type { StreamAudit } from '../../streams/scanned/audit-transfers.ts'
import { createLogger } from '../../observability/logger.ts'
import type { Cli, GlobalOptions } from '../context.ts'
import { exitCodes, readConfig } from '../context.ts'
import { facts, print } from '../output.ts'
import { auditNow } from '../../workers/stream-audit.ts'
import { streamArgument } from '../streams.ts'
import { withClient } from '../temporal.ts'

/** `portage stream audit` */
export function auditStreamCommand({ context, action }: Cli): Command {
  return streamArgument('audit')
    .description(
      "Hold a stream against its source's own count and table, and its open transfers against their workflows, now. What is missing is started.",
    )
    .addHelpText('after', help)
    .action(
      action(async (globals: GlobalOptions, stream: string) => {
        const config = await readConfig(context, globals)
        const logger = createLogger({ level: 'error', pretty: true, destination: { write: (line) => void context.stderr.write(line) } })
        const audit = await withClient(config, (client) => auditNow(client, config, stream, logger))
        print(context, globals, { stream, ...audit }, auditText(stream, audit))
        return audit.undone > 0 ? exitCodes.failure : exitCodes.ok
      }),
    )
}

function auditText(stream: string, { upTo, height, gaps, completed, started, closed, undone }: StreamAudit): string {
  return facts({
    stream,
    'source counts up to':
      upTo === undefined ? 'nothing yet, or not readable' : `${upTo}${height === undefined ? '' : `, at block ${height}`}`,
    'numbers in gaps': gaps,
    'found delivered': completed,
    'started, or started again': started,
    'found ended without delivery': closed,
    'delivered, and undone': undone,
  })
}

const help = `
The intake does this by itself every streams.auditMinutes. This process needs the nodes of the stream's chains; it holds no keys.
Outcomes with 1 if something that was delivered is no longer so.

Example:
  portage stream audit native-bridge:ethereum:bsc`
