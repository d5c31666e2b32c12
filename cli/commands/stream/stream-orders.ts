import { limits } from '../../../domain/stream/gaps.ts'
import { sourceOf } from '../../../intake/streams/reports.ts'
import { withChain } from '../../arguments/chains.ts'
import type { Call, Commands } from '../../command.ts'
import { type Reasoned, invalid, numberWithin, parse, withReason } from '../../arguments/options.ts'
import { findStream, sendToStream, streamArgument } from '../../arguments/streams.ts'

const example = 'native-bridge:ethereum:bsc'
const openTransfers = numberWithin(1, limits.open)

/** What is ordered of a stream by one update. */
export const orderCommands: Commands = {
  reread: {
    description:
      'Go back to a block that is still in the chain, and read all above it again: after a fork of the source below its finality.',
    options: (command) =>
      withReason(
        streamArgument(command)
          .requiredOption('--block <height>', 'the block, below the cursor', parse.number)
          .option(
            '--hash <hash>',
            'its hash, if you know it; the nodes of the source are asked for it by majority in any case',
            parse.hash,
          ),
      ),
    notes: 'Portage does this by itself when it meets a fork. Numbers above the block are unknown again: skips above it are forgotten.',
    examples: [`portage stream reread ${example} --block 18000000 --reason "a fork of the source"`],
    run: async (call: Call<Reasoned & { block: number; hash?: string }>, name: string) => {
      const { block, hash } = call.options
      const stream = await call.withTemporal((client) => findStream(client, name))
      const found = await withChain(await call.config(), sourceOf(stream), (chain) => chain.block(block, 'agreed'))
      if (!found) throw invalid(`--block: the source has no block ${block} yet`)
      if (hash !== undefined && hash !== found.hash.toLowerCase()) throw invalid(`--hash: block ${block} of the source is ${found.hash}`)
      const request = { kind: 'reread', block: { height: block, hash: found.hash } } as const
      return sendToStream(call, stream, { done: `back to block ${block}, ${found.hash}` }, request)
    },
  },
  skip: {
    description: 'Resolve a number without a delivery, so that the watermark passes it. It is listed as an exception, with who and why.',
    options: (command) => withReason(streamArgument(command).argument('<number>', 'the number', parse.u64)),
    notes: 'A transfer that runs under this number goes on: end it by portage transfer cancel.',
    examples: [`portage stream skip ${example} 118 --reason "a test message of the guardians"`],
    run: (call: Call<Reasoned>, stream: string, number: string) => {
      const words = { done: `skipped ${number}`, same: `${number} is resolved already` }
      return sendToStream(call, stream, words, { kind: 'skip', number })
    },
  },
  unskip: {
    description: 'Take a number up again that was resolved, by a skip or wrongly: its transfer is started, or found delivered.',
    options: (command) => withReason(streamArgument(command).argument('<number>', 'the number', parse.u64)),
    notes: 'A transfer that ended as rejected, declined or cancelled stays so: portage transfer retry starts it again.',
    examples: [`portage stream unskip ${example} 118 --reason "it was a real one"`],
    run: (call: Call<Reasoned>, stream: string, number: string) =>
      sendToStream(call, stream, { done: `${number} is to be started again` }, { kind: 'unskip', number }),
  },
  pause: {
    description: 'Move the cursor no further and start nothing new. What is open goes on; portage halt stops that, too.',
    options: (command) => withReason(streamArgument(command)),
    examples: [`portage stream pause ${example} --reason "the source chain is being upgraded"`],
    run: (call: Call<Reasoned>, stream: string) => sendToStream(call, stream, { done: 'paused' }, { kind: 'pause' }),
  },
  resume: {
    description: 'End a pause. The scan goes on where it stood.',
    options: (command) => withReason(streamArgument(command)),
    examples: [`portage stream resume ${example} --reason "the upgrade is done"`],
    run: (call: Call<Reasoned>, stream: string) => sendToStream(call, stream, { done: 'resumed' }, { kind: 'resume' }),
  },
  'set-max-open': {
    description: 'Change how many transfers of the stream are under way at a time; beyond it the cursor waits. It outranks the config.',
    options: (command) =>
      withReason(
        streamArgument(command).argument(
          '<transfers>',
          `most transfers that are under way at a time, 1 to ${limits.open}; parked ones do not count; configured: as the config has it`,
          (text) => (text === 'configured' ? undefined : openTransfers(text)),
        ),
      ),
    examples: [
      `portage stream set-max-open ${example} 50 --reason "a backlog"`,
      `portage stream set-max-open ${example} configured --reason "it is gone"`,
    ],
    run: (call: Call<Reasoned>, stream: string, maxOpen: number | undefined) => {
      const done = maxOpen === undefined ? 'as many open as the config says' : `at most ${maxOpen} open`
      return sendToStream(call, stream, { done }, { kind: 'setMaxOpen', maxOpen })
    },
  },
  trust: {
    description: 'Take a watermark from elsewhere, such as an on-chain checkpoint: all up to a number is resolved. It only ever raises.',
    options: (command) =>
      withReason(
        streamArgument(command)
          .requiredOption('--number <number>', 'all numbers up to this one are resolved', parse.u64)
          .option('--height <block>', 'no block of the source up to this one has to be read', parse.number),
      ),
    notes: `Numbers up to it that were not delivered are never looked at again: be sure. Beyond the highest known number it is refused
(portage stream audit asks the source for it). portage stream reread, to a block below that of the number, takes it back.`,
    examples: [`portage stream trust ${example} --number 118000 --height 19000000 --reason "the on-chain checkpoint"`],
    run: (call: Call<Reasoned & { number: string; height?: number }>, stream: string) => {
      const { number, height } = call.options
      const words = { done: `trusted up to ${number}`, same: `what is trusted is ${number} or more already` }
      return sendToStream(call, stream, words, { kind: 'trust', number, height })
    },
  },
}
