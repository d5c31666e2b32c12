import { numberOfUnconfigured } from '../domain/transfer/unconfigured-source.ts'
import type { StreamView } from '../domain/stream/stream.ts'

/** What a stream cannot prove whose source has no node in the config, one sentence each; undefined: the source's own chain is asked. */
export function unprovedOf({ next }: Pick<StreamView, 'next'>, sourceChain: string): readonly string[] | undefined {
  if (numberOfUnconfigured(sourceChain) === undefined) return undefined
  return [
    `head: what was published from number ${next} on shows only when the spy tells one of them, or a server of the network has one of the next`,
    'finality: that their blocks are final is the word of the guardians who signed them',
    'unobserved: a gap that no server has may be a message that no guardian signed, or a number that was never given out',
  ]
}
