import { z } from 'zod'
import { checkpointPlaceOf } from '../../config/data-folder.ts'
import type { Config } from '../../config/schema/schema.ts'
import { limits } from '../../domain/stream/gaps.ts'
import type { StreamNames, StreamView } from '../../domain/stream/stream.ts'
import { type CheckpointStore, createCheckpointStore, writeCheckpoint } from '../../intake/streams/checkpoints.ts'
import { orderStream, type StreamOrder } from '../../intake/streams/orders.ts'
import { streamReportSchema } from '../../intake/streams/report-schema.ts'
import { readStream, sourceOf, toReport } from '../../intake/streams/reports.ts'
import { aboutStream } from '../access/subjects.ts'
import {
  changesNothing,
  field,
  type Fields,
  type Given,
  invalid,
  option,
  type OrderContext,
  type OrderSpec,
  type OrderText,
  type Unsigned,
} from './spec.ts'
import { findStream } from './subjects.ts'
import { optional, values, within } from './values.ts'

const example = 'native-bridge:ethereum:bsc'
const number = field('<number>', values.u64, 'the number')
const common = { level: 'sign', subject: 'stream', reason: 'required' } as const

export const checkpointSchema = z.looseObject({ stream: z.string() }).meta({ id: 'Checkpoint', description: 'docs/operate/streams.md.' })

const obeyed = z
  .object({
    done: z.boolean().describe('False: the order changed nothing.'),
    warning: z.string().optional().describe('A risk of this order, which was obeyed.'),
    view: streamReportSchema,
  })
  .meta({ id: 'OrderedStream' })

interface StreamText<Of extends Fields> extends OrderText, Partial<Pick<OrderSpec, 'level'>> {
  readonly fields?: Of
  readonly conflict?: (given: Given<Of>) => { readonly path: string; readonly message: string } | undefined
  readonly ask: (given: Given<Of>, stream: string, context: OrderContext) => Unsigned<StreamOrder> | Promise<Unsigned<StreamOrder>>
  readonly done: (given: Given<Of>, view: StreamView, asked: Unsigned<StreamOrder>) => Readonly<Record<string, string>>
  readonly same?: (given: Given<Of>) => string
}

function streamOrder<Of extends Fields>(name: string, { ask, done, same, ...text }: StreamText<Of>): OrderSpec {
  return {
    ...common,
    ...text,
    route: `/v1/streams/:stream/${name}`,
    answer: obeyed,
    async run(context, subject, given: Given<Of>) {
      const { client, allow, heights } = context
      const stream = await findStream(client, subject)
      const order = allow(aboutStream(stream))
      const asked = await ask(given, stream, context)
      const answer = await orderStream(client, stream, { ...asked, order })
      const unchanged = { unchanged: same?.(given) ?? changesNothing }
      const { warning, view } = answer
      return {
        json: { ...answer, view: toReport(view, heights) },
        text: { ...(answer.done ? done(given, view, asked) : unchanged), warning, stream, ...watermark(view) },
      }
    },
  }
}

export const streamOrders = {
  'stream backfill': streamOrder('backfill', {
    level: 'write',
    summary: 'Read blocks of the source again, in addition to the live scan',
    details:
      'Portage starts the transfers in these blocks that are not resolved. For a delivered transfer, Portage only makes a batched read.',
    examples: [`portage stream backfill ${example} --from 18000000 --to 18050000 --reason "a node was wrong" --wait`],
    fields: {
      from: field('--from <block>', values.number, 'first block'),
      to: field('--to <block>', values.number, 'last block; only the live scan reads blocks above the cursor'),
    },
    conflict: ({ from, to }) => (from > to ? { path: 'to', message: 'must not be below from' } : undefined),
    ask: ({ from, to }) => ({ kind: 'backfill', from, to }),
    done: ({ from, to }, view) => {
      const last = lastBackfilled(view, from, to)
      return {
        ordered: `blocks ${from}-${last}${last < to ? `; the live scan reads those above ${last}` : ''}`,
        backfill: `${view.backfill.left} blocks left in all ordered backfills`,
      }
    },
  }),
  'stream audit': {
    level: 'write',
    subject: 'stream',
    route: '/v1/streams/:stream/audit',
    summary: "Compare a stream with its source's count and table now",
    details: 'The audit also compares the open transfers of the stream with their workflows. Portage starts missing transfers.',
    notes: `A process of the role intake audits each stream by itself every streams.auditMinutes. The command needs the nodes of the stream's chains, and no keys.
The exit code is 1 if a delivery was undone.`,
    examples: [`portage stream audit ${example}`],
  },
  'stream reread': streamOrder('reread', {
    summary: 'Go back to a block that is still in the chain, and read all blocks above it again',
    details: 'The order repairs a stream after a fork of the source below its finality.',
    notes:
      'After a fork, Portage reads the blocks again by itself. The stream forgets all numbers above the block, including skipped numbers.',
    examples: [`portage stream reread ${example} --block 18000000 --reason "a fork of the source"`],
    fields: {
      block: field('--block <height>', values.number, 'the block, below the cursor'),
      hash: option(
        '--hash <hash>',
        values.hash,
        'hash of the block, if you know it; most nodes of the source must confirm the block in any case',
      ),
    },
    ask: async ({ block, hash }, stream, { client, withChain }) => {
      await readStream(client, stream)
      // Checks the hash, because with a wrong hash, the stream would follow another chain.
      const found = await withChain(sourceOf(stream), (chain) => chain.block(block, 'agreed'))
      if (!found) throw invalid(`block: the source has no block ${block} yet`)
      if (hash !== undefined && hash !== found.hash.toLowerCase()) throw invalid(`hash: block ${block} of the source is ${found.hash}`)
      return { kind: 'reread', block: { height: block, hash: found.hash } }
    },
    done: ({ block }, _, asked) => ({ done: `back to block ${block}, ${asked.kind === 'reread' ? asked.block.hash : ''}` }),
  }),
  'stream skip': streamOrder('skip', {
    summary: 'Resolve a number without a delivery, so that the watermark passes it',
    details: 'The stream lists the number as an exception, with the name of the operator and the reason.',
    notes: 'A running transfer with a skipped number continues: end the transfer with portage transfer cancel.',
    examples: [`portage stream skip ${example} 118 --reason "a test message of the guardians"`],
    fields: { number },
    ask: (given) => ({ kind: 'skip', number: given.number }),
    done: (given) => ({ done: `skipped ${given.number}` }),
    same: (given) => `${given.number} is resolved already`,
  }),
  'stream unskip': streamOrder('unskip', {
    level: 'write',
    summary: 'Reopen a number that was skipped or wrongly resolved',
    details: 'Portage starts the transfer of the number, or finds that it is delivered.',
    notes: 'For a transfer that ended as rejected, declined or cancelled, run portage transfer retry instead.',
    examples: [`portage stream unskip ${example} 118 --reason "it was a real one"`],
    fields: { number },
    ask: (given) => ({ kind: 'unskip', number: given.number }),
    done: (given) => ({ done: `${given.number} is to be started again` }),
  }),
  'stream pause': streamOrder('pause', {
    summary: 'Stop the cursor of a stream, so that no new transfers start',
    details: 'Open transfers continue; portage halt stops open transfers, too.',
    examples: [`portage stream pause ${example} --reason "the source chain is being upgraded"`],
    ask: () => ({ kind: 'pause' }),
    done: () => ({ done: 'paused' }),
  }),
  'stream resume': streamOrder('resume', {
    summary: 'End the pause of a stream',
    details: 'The scan of the stream continues where it stopped.',
    examples: [`portage stream resume ${example} --reason "the upgrade is done"`],
    ask: () => ({ kind: 'resume' }),
    done: () => ({ done: 'resumed' }),
  }),
  'stream set-max-open': streamOrder('set-max-open', {
    summary: 'Change how many transfers of a stream are under way at a time',
    details: 'At the limit, the cursor of the stream waits. The order takes precedence over the config.',
    examples: [
      `portage stream set-max-open ${example} 50 --reason "a backlog"`,
      `portage stream set-max-open ${example} configured --reason "it is gone"`,
    ],
    fields: {
      maxOpen: field(
        '<transfers>',
        { ...optional(within(1, limits.open)), usual: 'configured' },
        `maximum number of transfers under way, not counting parked transfers: 1 to ${limits.open}. The word "configured" (in the API: leave out the field) means the number in the config`,
      ),
    },
    ask: ({ maxOpen }) => ({ kind: 'setMaxOpen', maxOpen }),
    done: ({ maxOpen }) => ({ done: maxOpen === undefined ? 'as many open as the config says' : `at most ${maxOpen} open` }),
  }),
  'stream trust': streamOrder('trust', {
    summary: 'Set the watermark of a stream, for example to an on-chain checkpoint',
    details: 'All numbers up to the watermark then count as resolved. The watermark can only rise.',
    notes: `Make sure that all numbers up to the watermark are delivered, because Portage never examines these numbers again. Portage refuses a number
above the highest known number, which portage stream audit reads from the source. To undo the order, run portage stream reread with a
block below the block of the number.`,
    examples: [`portage stream trust ${example} --number 118000 --height 19000000 --reason "the on-chain checkpoint"`],
    fields: {
      number: field('--number <number>', values.u64, 'the new watermark'),
      height: option('--height <block>', values.number, 'the stream does not need to read blocks of the source up to this block'),
    },
    ask: ({ number: upTo, height }) => ({ kind: 'trust', number: upTo, ...(height !== undefined && { height }) }),
    done: (given) => ({ done: `trusted up to ${given.number}` }),
    same: (given) => `${given.number} or more is trusted already`,
  }),
  'stream checkpoint write': {
    level: 'write',
    subject: 'stream',
    route: '/v1/streams/:stream/checkpoint',
    summary: 'Write the checkpoint of a stream now, to the store that this process uses',
    details: 'A process of the role intake writes the checkpoint by itself every few seconds.',
    examples: [`portage stream checkpoint write ${example}`],
    answer: z.object({ stream: z.string(), written: checkpointSchema }),
    async run({ client, config, allow }, subject) {
      const stream = await findStream(client, subject)
      allow(aboutStream(stream))
      const written = await writeCheckpoint(client, checkpointStoreOf(config, client.streamNames), stream)
      return { json: { stream, written }, text: 'written' }
    },
  },
} satisfies Record<string, OrderSpec>

export function watermark({ completedNumber, completedHeight }: StreamView) {
  return { completed_nonce_height: completedNumber ?? 'none yet', completed_block_height: completedHeight ?? 'none yet' }
}

/** Last block that the backfill reads. The live scan reads the blocks above the cursor. */
export function lastBackfilled({ nextHeight }: Pick<StreamView, 'nextHeight'>, from: number, to: number): number {
  return Math.min(to, (nextHeight ?? from + 1) - 1)
}

/** Throws INPUT_INVALID if the config turns checkpoints off. */
export function checkpointStoreOf(config: Pick<Config, 'dataFolder' | 'streams'>, names?: StreamNames): CheckpointStore {
  const place = checkpointPlaceOf(config)
  if (!place) throw invalid('streams.checkpoints says none: no checkpoints are kept.')
  return createCheckpointStore(place, names)
}
