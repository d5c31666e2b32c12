/** A stream of the config. Its id has the chains' numbers, which no renaming changes; its name has their names. */
export interface StreamName {
  readonly id: string
  readonly name: string
}

/** Translates between names and ids of streams. Both accept either; an unknown text is returned unchanged. */
export interface StreamNames {
  idOf(nameOrId: string): string
  nameOf(nameOrId: string): string
}

export function createStreamNames(streams: readonly StreamName[]): StreamNames {
  const ids = new Map(streams.map(({ id, name }) => [name, id]))
  const names = new Map(streams.map(({ id, name }) => [id, name]))
  return { idOf: (text) => ids.get(text) ?? text, nameOf: (text) => names.get(text) ?? text }
}
