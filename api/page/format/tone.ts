/** Each tone has a mark of its own shape and a word next to it, so that colour is not the only difference. */
export type Tone = 'good' | 'busy' | 'wait' | 'bad' | 'off'

const tones: Readonly<Record<string, Tone>> = {
  admitting: 'busy',
  waiting: 'wait',
  broadcasting: 'busy',
  pending: 'busy',
  included: 'busy',
  parked: 'bad',
  delivered: 'good',
  rejected: 'off',
  declined: 'off',
  cancelled: 'off',
  undone: 'bad',
  terminated: 'bad',
  failed: 'bad',
  active: 'good',
  syncing: 'busy',
  paused: 'wait',
  draining: 'wait',
  forbidden: 'bad',
  broke: 'bad',
  'chain replaced': 'bad',
  unserved: 'bad',
  'chain away': 'bad',
  'no answer': 'bad',
  'no ledger yet': 'off',
  up: 'good',
  unknown: 'busy',
  open: 'bad',
  'half-open': 'wait',
  'wrong-network': 'bad',
  disabled: 'off',
  mined: 'good',
  replaced: 'off',
  reorged: 'wait',
  dropped: 'off',
}

/** An unknown state is neither good nor bad. */
export function toneOf(state: string): Tone {
  return Object.hasOwn(tones, state) ? (tones[state] ?? 'off') : 'off'
}
