export interface S3Place {
  readonly kind: 's3'
  readonly bucket: string
  readonly region: string
  /** Not AWS. Its paths begin with the bucket. */
  readonly endpoint?: string | undefined
  /** Empty, or with a slash at its end. */
  readonly prefix: string
}

/** `archive` of the config. */
export type ArchivePlace = { readonly kind: 'directory'; readonly path: string } | S3Place

export interface StoredText {
  readonly text: string
  /** The ETag in a bucket, a hash in a folder. */
  readonly version: string
}

/** By name, `a/b/c.jsonl`. Writes are atomic. */
export interface ArchiveStore {
  /** Throws ARCHIVE_UNAVAILABLE. */
  get(name: string): Promise<StoredText | undefined>
  /** False: unwritten, as the text is not `was` (of `get`) any more. Throws ARCHIVE_UNAVAILABLE. */
  put(name: string, text: string, was: StoredText | undefined): Promise<boolean>
}
