export interface S3Place {
  readonly kind: 's3'
  readonly bucket: string
  readonly region: string
  /** A server other than AWS. Its URLs have the bucket as the first part of the path. */
  readonly endpoint?: string | undefined
  /** Prefix of every name: empty, or with a slash at its end. */
  readonly prefix: string
}

/** The place of the archive, as in the config (`archive`). */
export type ArchivePlace = { readonly kind: 'directory'; readonly path: string } | S3Place

export interface StoredText {
  readonly text: string
  /** Changes with the text: the ETag in a bucket, a hash in a folder. */
  readonly version: string
}

/** Texts by name, `a/b/c.jsonl`. Writes are atomic: a reader gets the old text or the new one. */
export interface ArchiveStore {
  /** Undefined: there is no such text. Throws ARCHIVE_UNAVAILABLE. */
  get(name: string): Promise<StoredText | undefined>
  /**
   * Writes if the text is still the one that was read, so that two writers do not overwrite each other. Throws
   * ARCHIVE_UNAVAILABLE.
   * @param was the answer of `get`
   * @returns false: nothing was written, because another writer was faster
   */
  put(name: string, text: string, was: StoredText | undefined): Promise<boolean>
}
