import { numberOfUnconfigured } from '../../domain/transfer/unconfigured-source.ts'
import type { StreamView } from '../../domain/stream/stream.ts'

/** What a stream cannot prove whose source has no node in the config, one sentence each; undefined: the source's own chain is asked. */
export function unprovedOf({ next }: Pick<StreamView, 'next'>, sourceChain: string): readonly string[] | undefined {
  if (numberOfUnconfigured(sourceChain) === undefined) return undefined
  return [
    `head: whether the source has published ${next} or more. The spy tells of new ones, and each audit asks the servers of the guardians for the next few; portage stream audit does it now`,
    'finality: whether the blocks of its messages are final. The guardians wait for that before they sign; nobody here looks',
    'unobserved: whether a gap of this name holds a message at all. Look its number up at an explorer of Wormhole before you skip it',
  ]
}
