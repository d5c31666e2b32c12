/** A mark and a word also show each tone, because some readers cannot distinguish the colours. */
export type Tone = 'good' | 'busy' | 'wait' | 'bad' | 'off'

const tones: readonly { readonly tone: Tone; readonly states: readonly string[] }[] = [
  { tone: 'good', states: ['delivered', 'mined', 'active', 'up'] },
  { tone: 'busy', states: ['admitting', 'broadcasting', 'recorded', 'signed', 'pending', 'included', 'syncing', 'unknown'] },
  { tone: 'wait', states: ['waiting', 'reorged', 'paused', 'draining', 'probing'] },
  { tone: 'bad', states: ['parked', 'reverted', 'undone', 'terminated', 'failed'] },
  { tone: 'bad', states: ['forbidden', 'broke', 'chain replaced', 'unserved', 'chain away', 'no answer', 'failing', 'wrong-network'] },
]

export function toneOf(state: string): Tone {
  return tones.find(({ states }) => states.includes(state))?.tone ?? 'off'
}
