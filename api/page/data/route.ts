import { createStore } from './store.ts'

/** Which view the part of the address after # asks for. */
export type Route = { readonly view: 'overview' } | { readonly view: 'transfer'; readonly id: string }

export function routeOf(hash: string): Route {
  const [, id] = /^#\/transfer\/(.+)$/.exec(hash) ?? []
  if (id === undefined) return { view: 'overview' }
  try {
    return { view: 'transfer', id: decodeURIComponent(id) }
  } catch {
    // Not as this page writes it: taken as it is typed.
    return { view: 'transfer', id }
  }
}

export const route = createStore<Route>({ view: 'overview' })

export function startRouting(): void {
  const read = () => route.set(routeOf(location.hash))
  read()
  window.addEventListener('hashchange', read)
}
