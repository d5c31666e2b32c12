import { learnTime, serverNow } from './clock.ts'
import { connection } from './connection.ts'
import { session } from './session.ts'
import { createStore } from './store.ts'

/** RFC 9457. */
export interface Problem {
  readonly status: number
  readonly code: string
  readonly title: string
  readonly detail: string
  readonly remedy: string
}

export class Refused extends Error {
  readonly problem: Problem
  constructor(problem: Problem) {
    super(problem.title)
    this.problem = problem
  }
}

/** Undefined: it was accepted, or not tried yet. */
export const tokenProblem = createStore<Problem | undefined>(undefined)
session.subscribe(() => tokenProblem.set(undefined))

/** Longest wait for an answer, ms. The server itself waits ten seconds for Temporal. */
const timeoutMs = 20_000

export const unreachable: Problem = {
  status: 0,
  code: 'NO_ANSWER',
  title: 'The API of Portage does not answer.',
  detail: '',
  remedy: 'Check that a process serves it (portage run --role all, or --role api) and that this browser can reach it.',
}

/** Throws Refused. */
export async function ask<T>(path: string, body?: object): Promise<T> {
  const response = await send(path, body)
  learnTime(response.headers.get('date'))
  // Any status shows that the server is reachable.
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
    // No cookies, and no copy in the browser's cache.
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

/** An answer that is not from the API, such as a proxy's page, is described by its status. */
export async function problemOf(response: Response): Promise<Problem> {
  const { status } = response
  const answer = await response.json().catch(() => undefined)
  const text = (name: string): string => {
    const value = typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>)[name] : undefined
    return typeof value === 'string' ? value : ''
  }
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
