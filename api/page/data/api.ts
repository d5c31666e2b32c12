import { learnTime, serverNow } from './clock.ts'
import { connection } from './connection.ts'
import { session } from './session.ts'
import { createStore } from './store.ts'

/** Why a request was not answered: RFC 9457, with the catalogue's code and remedy. */
export interface Problem {
  readonly status: number
  readonly code: string
  readonly title: string
  readonly detail: string
  readonly remedy: string
}

/** Thrown by `ask`. */
export class Refused extends Error {
  readonly problem: Problem
  constructor(problem: Problem) {
    super(problem.title)
    this.problem = problem
  }
}

/** Why the token that was entered is not taken; undefined: it is, or it was not tried yet. */
export const tokenProblem = createStore<Problem | undefined>(undefined)
session.subscribe(() => tokenProblem.set(undefined))

/** Longest wait for an answer, ms: the server itself waits ten seconds for Temporal. */
const timeoutMs = 20_000

/** What the browser says when nothing answers. */
export const unreachable: Problem = {
  status: 0,
  code: 'NO_ANSWER',
  title: 'The API of Portage does not answer.',
  detail: '',
  remedy: 'Look whether the process runs that serves it (portage run --role all, or --role api), and whether this browser reaches it.',
}

/** Asks the API. Throws Refused. */
export async function ask<T>(path: string, body?: object): Promise<T> {
  const response = await send(path, body)
  learnTime(response.headers.get('date'))
  // Whatever it says, something answered.
  connection.answered(serverNow())
  if (!response.ok) {
    const problem = await problemOf(response)
    if (problem.status === 401) tokenProblem.set(problem)
    throw new Refused(problem)
  }
  return (await response.json()) as T
}

async function send(path: string, body: object | undefined): Promise<Response> {
  const token = session.get()?.token
  const headers: Record<string, string> = { accept: 'application/json', ...(token && { authorization: `Bearer ${token}` }) }
  if (body) headers['content-type'] = 'application/json'
  const payload = body && { method: 'POST', body: JSON.stringify(body) }
  try {
    // No cookies, and nothing of it in the browser's cache.
    return await fetch(path, {
      ...payload,
      headers,
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    })
  } catch {
    connection.failed(serverNow())
    throw new Refused(unreachable)
  }
}

/** The refusal in an answer; what is no problem of ours (a proxy's page) is told by its status. */
export async function problemOf(response: Response): Promise<Problem> {
  const { status } = response
  const told = await response.json().catch(() => undefined)
  const text = (name: string): string => {
    const value = typeof told === 'object' && told !== null ? (told as Record<string, unknown>)[name] : undefined
    return typeof value === 'string' ? value : ''
  }
  if (text('code') === '')
    return {
      status,
      code: `HTTP_${status}`,
      title: `The API answered with status ${status}.`,
      detail: '',
      remedy: 'Look what stands between this browser and Portage: a proxy may have answered.',
    }
  return { status, code: text('code'), title: text('title'), detail: text('detail'), remedy: text('remedy') }
}
