import { createStore } from './store.ts'

/** connecting: no answer yet. live: receives events. polling: asks every few seconds. lost: the last request failed. */
export type ConnectionState = 'connecting' | 'live' | 'polling' | 'lost'

export interface Connection {
  readonly state: ConnectionState
  /** ms since the epoch by the server's clock. Undefined: never. */
  readonly answeredAt?: number
  readonly isStreaming: boolean
}

const store = createStore<Connection>({ state: 'connecting', isStreaming: false })

function change(part: Partial<Connection>, isLost: boolean): void {
  const next = { ...store.get(), ...part }
  const state = isLost ? 'lost' : next.answeredAt === undefined ? 'connecting' : next.isStreaming ? 'live' : 'polling'
  store.set({ ...next, state })
}

export const connection = {
  store,
  answered: (at: number) => change({ answeredAt: at }, false),
  failed: (at: number) => change({ answeredAt: store.get().answeredAt ?? at }, true),
  streaming: (isStreaming: boolean) => change({ isStreaming }, store.get().state === 'lost' && !isStreaming),
}
