/** Asks once per key; failures, and answers that are not `lasting`, are asked for again. */
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
