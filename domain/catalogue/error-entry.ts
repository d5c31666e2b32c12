/** One row of the catalogue: whether trying again can help, what it means, what the reader can do. */
export interface CatalogueEntry {
  readonly retriable: boolean
  readonly title: string
  readonly remedy: string
  /** The signatures of the message are too old: a copy with newer ones is as good. */
  readonly awaitNewSignatures?: true
  /** A transfer waits for this alone: the others of its route do not, and its stream gives its room to them. */
  readonly waitsForItself?: true
  /** The contracts of a route contradict each other. Read by ourselves, on the word of most nodes, it halts the route; of bytes that anybody sent it says nothing. */
  readonly haltRoute?: boolean
}

/** Trying again can help. */
export function retry(title: string, remedy: string, facts: Pick<CatalogueEntry, 'waitsForItself'> = {}): CatalogueEntry {
  return { retriable: true, title, remedy, ...facts }
}

/** Trying again cannot help. */
export function fatal(title: string, remedy: string, facts: Pick<CatalogueEntry, 'awaitNewSignatures' | 'haltRoute'> = {}): CatalogueEntry {
  return { retriable: false, title, remedy, ...facts }
}
