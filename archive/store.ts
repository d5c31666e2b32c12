export interface S3Place {
  readonly kind: 's3'
  readonly bucket: string
  readonly region: string
  /** Another server than AWS: the bucket is the first part of the path then. */
  readonly endpoint?: string | undefined
  /** Before every name; empty, or with a slash at its end. */
  readonly prefix: string
}

/** Where the archive is; as in the config (`archive`). */
export type ArchivePlace = { readonly kind: 'directory'; readonly path: string } | S3Place

/** Texts by name, `a/b/c.jsonl`. Whole or not at all: whoever reads finds the old text or the new one. */
export interface ArchiveStore {
  /** Undefined: there is none. Throws ARCHIVE_UNAVAILABLE. */
  get(name: string): Promise<string | undefined>
  /** Throws ARCHIVE_UNAVAILABLE. */
  put(name: string, text: string): Promise<void>
}
