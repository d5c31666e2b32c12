import { createStore } from './store.ts'

/** The view in the fragment of the address. */
export type Route = { readonly view: 'overview' } | { readonly view: 'transfer'; readonly id: string }

export function routeOf(hash: string): Route {
  const [, id] = /^#\/transfer\/(.+)$/.exec(hash) ?? []
  if (id === undefined) return { view: 'overview' }
  try {
    return { view: 'transfer', id: decodeURIComponent(id) }
  } catch {
    // A malformed id is used unchanged.
    return { view: 'transfer', id }
  }
}

export const route = createStore<Route>({ view: 'overview' })

export function startRouting(): void {
  const read = () => route.set(routeOf(location.hash))
  read()
  window.addEventListener('hashchange', read)
}
