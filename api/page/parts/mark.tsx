import { countText } from '../format/amounts.ts'
import { type Tone, toneOf } from '../format/tone.ts'

const shapes: Readonly<Record<Tone, string>> = {
  good: 'M2.500 6.500 5 9l4.500-6',
  busy: 'M6 1.500a4.500 4.500 0 1 1-4.500 4.500',
  wait: 'M4 2.500v7M8 2.500v7',
  bad: 'M6 1.500 11 10.500H1ZM6 5v2.400M6 9v.1',
  off: 'M2.500 6h7',
}

export function Mark({ tone }: { readonly tone: Tone }) {
  return (
    <svg class={`mark ${tone}`} viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
      <path d={shapes[tone]} fill="none" stroke="currentColor" stroke-width="1.600" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  )
}

interface StateProps {
  readonly state: string
  readonly tone?: Tone
  readonly count?: number | string
}

export function State({ state, tone = toneOf(state), count }: StateProps) {
  return (
    <span class={`state ${tone}`}>
      <Mark tone={tone} />
      {count !== undefined && <b class="figure">{countText(count)}</b>} {state}
    </span>
  )
}

interface CountsProps extends Pick<StateProps, 'tone'> {
  readonly hrefOf?: (state: string) => string
  readonly of: Readonly<Partial<Record<string, number | string>>>
}

export function Counts({ of, tone, hrefOf }: CountsProps) {
  const found = Object.entries(of)
  if (found.length === 0) return <span class="quiet-text">none</span>
  return (
    <>
      {found.map(([state, count]) => {
        const shown = <State state={state} tone={tone} count={count} key={state} />
        return hrefOf ? (
          <a href={hrefOf(state)} key={state}>
            {shown}
          </a>
        ) : (
          shown
        )
      })}
    </>
  )
}
