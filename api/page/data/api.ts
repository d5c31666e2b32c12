import type { Problem } from '../../answers.ts'
import { learnTime, serverNow } from './clock.ts'
import { session } from './session.ts'
import { createStore } from './store.ts'

export type ShownProblem = Pick<Problem, 'status' | 'code' | 'title' | 'detail' | 'remedy'>

class Refused extends Error {
  readonly problem: ShownProblem
  constructor(problem: ShownProblem) {
    super(problem.title)
    this.problem = problem
  }
}

export const tokenProblem = createStore<ShownProblem | undefined>(undefined)
session.subscribe(() => tokenProblem.set(undefined))

/** Time limit of a request (ms), which is longer than the server's own wait of ten seconds for Temporal. */
const timeoutMs = 20_000

const unreachable: ShownProblem = {
  status: 0,
  code: 'NO_ANSWER',
  title: 'The API of Portage does not answer.',
  detail: '',
  remedy: 'Check that a process serves it (portage run --role all, or --role api) and that this browser can reach it.',
}

/** `live`: the page receives events. `polling`: it reads every few seconds. `lost`: the last request got no answer. */
export type ConnectionState = 'connecting' | 'live' | 'polling' | 'lost'

interface Connection {
  readonly state: ConnectionState
  /** Time of the last answer, by the server's clock, ms since the epoch. */
  readonly answeredAt?: number
  readonly isStreaming: boolean
}

export const connection = createStore<Connection>({ state: 'connecting', isStreaming: false })

function changeConnection(part: Partial<Connection>, isLost: boolean): void {
  const next = { ...connection.get(), ...part }
  const state = isLost ? 'lost' : next.answeredAt === undefined ? 'connecting' : next.isStreaming ? 'live' : 'polling'
  connection.set({ ...next, state })
}

export function setStreaming(isStreaming: boolean): void {
  changeConnection({ isStreaming }, connection.get().state === 'lost' && !isStreaming)
}

/** Sends a GET, or a POST if `body` is given. Returns the answer. `problemIn` reads the errors that this throws. */
export async function ask<T>(path: string, body?: object): Promise<T> {
  const asked = session.get()
  const response = await send(path, body)
  learnTime(response.headers.get('date'))
  changeConnection({ answeredAt: serverNow() }, false)
  if (!response.ok) {
    const problem = await problemOf(response)
    // If the token has changed since the request, the 401 concerns the old token and is ignored.
    if (problem.status === 401 && session.get() === asked) tokenProblem.set(problem)
    throw new Refused(problem)
  }
  return (await response.json()) as T
}

async function send(path: string, body: object | undefined): Promise<Response> {
  const payload = body && { method: 'POST', body: JSON.stringify(body) }
  const headers = { accept: 'application/json', ...(body && { 'content-type': 'application/json' }) }
  try {
    return await request(path, { ...payload, headers, signal: AbortSignal.timeout(timeoutMs) })
  } catch {
    changeConnection({ answeredAt: connection.get().answeredAt ?? serverNow() }, true)
    throw new Refused(unreachable)
  }
}

export function request(
  path: string,
  options: Omit<RequestInit, 'headers'> & { readonly headers: Record<string, string> },
): Promise<Response> {
  const token = session.get()?.token
  const headers = { ...options.headers, ...(token && { authorization: `Bearer ${token}` }) }
  return fetch(path, { ...options, headers, credentials: 'omit', cache: 'no-store', redirect: 'error' })
}

export function problemIn(error: unknown): ShownProblem {
  return error instanceof Refused ? error.problem : unreachable
}

/** Reads the problem in an answer. Describes an answer without one, for example a proxy's page, by its status. */
export async function problemOf(response: Response): Promise<ShownProblem> {
  const { status } = response
  const answer = Object(await response.json().catch(() => undefined)) as Readonly<Record<string, unknown>>
  const text = (name: string) => (typeof answer[name] === 'string' ? answer[name] : '')
  if (text('code') === '')
    return {
      status,
      code: `HTTP_${status}`,
      title: `The API answered with status ${status}.`,
      detail: '',
      remedy: 'Check the path between this browser and Portage: a proxy may have answered.',
    }
  return { status, code: text('code'), title: text('title'), detail: text('detail'), remedy: text('remedy') }
}
