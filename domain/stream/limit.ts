import type { StreamRequest, StreamState, StreamView } from './stream.ts'
import { clip, limits } from './gaps.ts'
import { done, type StreamStep } from './numbers.ts'

type Of<Kind extends StreamRequest['kind']> = Extract<StreamRequest, { kind: Kind }>

const fitting = (maxOpen: number): number => Math.min(maxOpen, limits.open)

/** An operator's word on how many transfers are under way at a time: it outranks the config until it is taken back. */
export function setMaxOpen(state: StreamState, { maxOpen, by }: Of<'setMaxOpen'>, at: number): StreamStep {
  const { ordered: _, ...rest } = state
  if (maxOpen === undefined) return done({ ...rest, maxOpen: fitting(state.config.maxOpen) })
  return done({ ...rest, maxOpen: fitting(maxOpen), ordered: { by: clip(by), at } })
}

/** What the config says by now, by the word of a process that has just started: it holds where nobody has ordered anything else. */
export function configured(state: StreamState, { maxOpen }: Of<'configured'>): StreamStep {
  const config = { ...state.config, maxOpen }
  return done(state.ordered ? { ...state, config } : { ...state, config, maxOpen: fitting(maxOpen) })
}

export function viewMaxOpen({ maxOpen, config, ordered }: StreamState): StreamView['maxOpen'] {
  return { most: maxOpen, configured: fitting(config.maxOpen), ...(ordered && { ordered }) }
}
