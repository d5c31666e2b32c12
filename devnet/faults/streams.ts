import { watermarks } from '../demo/streams.ts'
import { isNative, type AnySent } from '../sent.ts'
import type { Scene } from './scene.ts'

/** Streams that have not proved all that was sent over them: not contiguous up to the last number, or with something open or in a gap. */
export async function streamRemains({ client, sent }: Pick<Scene, 'client' | 'sent'>): Promise<string[]> {
  const known = new Map((await watermarks(client)).map((one) => [one.stream, one]))
  return [...lastNumbers(sent.filter(isNative))].flatMap(([stream, last]) => {
    const mark = known.get(stream)
    if (!mark) return [`${stream}: no workflow`]
    const { completedNonceHeight: completed, open, gaps } = mark
    const proved = completed !== undefined && BigInt(completed) >= last && open === 0 && gaps === '0'
    return proved ? [] : [`${stream}: proved up to ${completed ?? 'nothing'} of ${last}, ${open} open, ${gaps} in gaps`]
  })
}

/** The highest number that users know of, by stream. */
function lastNumbers(sent: readonly AnySent[]): Map<string, bigint> {
  const last = new Map<string, bigint>()
  for (const one of sent) {
    const [stream, number] = isNative(one)
      ? [`native-bridge:${one.source}:${one.target}`, one.nonce]
      : [`wormhole-token-bridge:${one.source}:${one.emitter}`, one.sequence]
    if (number > (last.get(stream) ?? -1n)) last.set(stream, number)
  }
  return last
}
