import { problemOf, request, setStreaming } from './api.ts'
import { createEventParser } from './event-stream.ts'
import { refreshAll } from './readings.ts'
import { session } from './session.ts'

const [firstPauseMs, longestPauseMs] = [1_000, 30_000]
/** Time (ms) without data after which the event stream counts as broken. The server's heartbeats are more frequent. */
const silentMs = 60_000

/** Refreshes all readings at each event of the server. Without an event stream, the page polls, and connects again. */
export async function followEvents(): Promise<never> {
  let pauseMs = firstPauseMs
  let lastId = ''
  for (;;) {
    await signedIn()
    const began = performance.now()
    const abort = new AbortController()
    const unsubscribe = session.subscribe(() => abort.abort())
    lastId = await readStream(lastId, abort).catch(() => lastId)
    unsubscribe()
    setStreaming(false)
    // Refreshing shows whether the server is unreachable, or only the event stream has ended.
    refreshAll()
    pauseMs = performance.now() - began > longestPauseMs ? firstPauseMs : Math.min(longestPauseMs, pauseMs * 2)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

function signedIn(): Promise<void> {
  return new Promise((resolve) => {
    if (session.get()) return resolve()
    const end = session.subscribe(() => {
      if (!session.get()) return
      end()
      resolve()
    })
  })
}

async function readStream(lastId: string, abort: AbortController): Promise<string> {
  let id = lastId
  const parse = createEventParser((event) => {
    if (event.id !== '') id = event.id
    refreshAll()
  })
  let timer = setTimeout(() => abort.abort(), silentMs)
  try {
    const headers = { accept: 'text/event-stream', ...(lastId && { 'last-event-id': lastId }) }
    const response = await request('v1/events', { headers, signal: abort.signal })
    if (!response.ok || !response.body) throw new Error((await problemOf(response)).title)
    setStreaming(true)
    refreshAll()
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return id
      clearTimeout(timer)
      timer = setTimeout(() => abort.abort(), silentMs)
      parse(value)
    }
  } finally {
    clearTimeout(timer)
  }
}
