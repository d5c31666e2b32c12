import { useState } from 'preact/hooks'
import { connection, type ConnectionState } from '../data/api.ts'
import { useNow } from '../data/clock.ts'
import { session, signOut } from '../data/session.ts'
import { useStore } from '../data/store.ts'
import { chooseTheme, themeChoice, type ThemeChoice } from '../data/theme.ts'
import { agoText, ageText } from '../../../domain/text/age.ts'
import type { Tone } from '../format/tone.ts'
import { Choices } from './choices.tsx'
import { Mark } from './mark.tsx'

const parts = ['Stuck', 'Flow', 'Parked', 'Lanes', 'Streams', 'Nodes'] as const

export function Head({ namespace }: { readonly namespace: string | undefined }) {
  const held = useStore(session)
  return (
    <header class="top">
      <div class="top-row">
        <a class="brand" href="#/">
          <h1 class="brand">Portage</h1>
        </a>
        {namespace !== undefined && <span class="quiet-text wrap">{namespace}</span>}
        {held && (
          <nav class="parts" aria-label="Parts of the page">
            {parts.map((part) => (
              <a href={`#${part.toLowerCase()}`} key={part}>
                {part}
              </a>
            ))}
            <a href="#/transfers">Transfers</a>
          </nav>
        )}
        <div class="top-end">
          {held && <Find />}
          {held && <ConnectionMark />}
          <Choices name="theme" legend="Colours" choices={themes} chosen={useStore(themeChoice)} onChoose={chooseTheme} />
          {held && <Holder />}
        </div>
      </div>
      <LostBanner />
    </header>
  )
}

function Find() {
  const [text, setText] = useState('')
  return (
    <form
      class="find"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        if (text.trim() !== '') location.hash = `#/transfer/${encodeURIComponent(text.trim())}`
      }}
    >
      <input
        type="search"
        value={text}
        placeholder="Id, hash, digest…"
        aria-label="Find a transfer by its id, a part of it, a transaction's hash or its digest"
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
    </form>
  )
}

const connectionTexts: Readonly<Record<ConnectionState, { readonly tone: Tone; readonly word: string; readonly title: string }>> = {
  connecting: { tone: 'busy', word: 'connecting', title: 'No answer yet.' },
  live: { tone: 'good', word: 'live', title: 'The server reports every change.' },
  polling: { tone: 'busy', word: 'every 5 s', title: 'The server reports no changes: this page asks every few seconds.' },
  lost: { tone: 'bad', word: 'connection lost', title: 'The last request failed.' },
}

function ConnectionMark() {
  const { tone, word, title } = connectionTexts[useStore(connection).state]
  return (
    <span class={`state ${tone}`} role="status" title={title} id="connection">
      <Mark tone={tone} />
      {word}
    </span>
  )
}

function LostBanner() {
  const { state, answeredAt } = useStore(connection)
  const now = useNow()
  if (state !== 'lost') return null
  // Screen readers would otherwise read the age aloud every second.
  const age = <span aria-live="off">{agoText(now - (answeredAt ?? now))}</span>
  return (
    <div class="banner" role="alert">
      Connection lost: the last answer of the API came {age}. All figures are from that time. This page retries by itself. If the connection
      stays lost, check that portage run is alive, and read its log.
    </div>
  )
}

const themes: readonly { readonly value: ThemeChoice; readonly label: string }[] = [
  { value: 'system', label: 'Auto' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
]

function Holder() {
  const held = useStore(session)
  const now = useNow()
  if (!held) return null
  const { name, level, expiresAt, chains } = held.claims
  const left = expiresAt > now ? `valid for ${ageText(expiresAt - now)}` : 'expired'
  return (
    <span class="holder">
      <span class="wrap" title={chains ? `for ${chains.join(', ')}; ${left}` : left}>
        {name} <span class="quiet-text">({level})</span>
      </span>
      <button type="button" class="small" onClick={signOut}>
        Forget token
      </button>
    </span>
  )
}
