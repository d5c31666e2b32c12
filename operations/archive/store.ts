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

/** A text as it was read. */
export interface StoredText {
  readonly text: string
  /** Another one after each change: of a bucket the ETag, of a folder a hash. */
  readonly version: string
}

/** Texts by name, `a/b/c.jsonl`. Whole or not at all: whoever reads finds the old text or the new one. */
export interface ArchiveStore {
  /** Undefined: there is none. Throws ARCHIVE_UNAVAILABLE. */
  get(name: string): Promise<StoredText | undefined>
  /**
   * Writes if the text is still the one that was read, so that two who add to it do not overwrite each other. Throws ARCHIVE_UNAVAILABLE.
   * @param was what `get` gave
   * @returns false: nothing was written, since somebody else has written, or is about to
   */
  put(name: string, text: string, was: StoredText | undefined): Promise<boolean>
}
