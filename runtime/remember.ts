/** Calls `ask` once per key, and again only after a failure or an answer that is not `lasting`. */
export function remember<K, T>(ask: (key: K) => Promise<T>, lasting: (answer: T) => boolean = () => true) {
  const known = new Map<K, Promise<T>>()
  return {
    clear: () => known.clear(),
    get(key: K): Promise<T> {
      const before = known.get(key)
      if (before) return before
      const answer = ask(key)
      known.set(key, answer)
      const forget = () => known.get(key) === answer && known.delete(key)
      answer.then((value) => lasting(value) || forget(), forget)
      return answer
    },
  }
}
