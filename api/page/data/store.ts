import { useEffect, useState } from 'preact/hooks'

export interface Store<T> {
  get(): T
  set(value: T): void
  subscribe(listener: () => void): () => void
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of [...listeners]) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState(store.get())
  useEffect(() => {
    const take = () => setValue(() => store.get())
    take()
    return store.subscribe(take)
  }, [store])
  return value
}

export function kept(where: 'sessionStorage' | 'localStorage', key: string): string {
  try {
    return globalThis[where].getItem(key) ?? ''
  } catch {
    return ''
  }
}

export function keep(where: 'sessionStorage' | 'localStorage', key: string, text: string): void {
  try {
    if (text === '') globalThis[where].removeItem(key)
    else globalThis[where].setItem(key, text)
  } catch {
    // The browser blocks its storage, so the value stays only in memory.
  }
}
