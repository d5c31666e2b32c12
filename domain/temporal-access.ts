import type { StreamNames } from './stream/stream.ts'

/** A secret or certificate, read when needed. Printing the object does not show its text. */
export interface CredentialSource {
  /** The setting with the credential: `the config file`, `TEMPORAL_API_KEY`, `profile prod of /etc/temporal.toml`. */
  readonly from: string
  /** Absolute path of the file. Absent: the text is in a variable or the setting itself, and cannot change later. */
  readonly file?: string
  /** Reads the present text. Throws the system's error if the file cannot be read. */
  read(): string
}

/** TLS to Temporal. Without `ca`, Node's CAs are trusted. Without `certificate` and `key`, the client shows none. */
export interface TlsSettings {
  /** The name that the server's certificate must have, if it is not the name of the host. */
  readonly serverName?: string | undefined
  readonly ca?: CredentialSource | undefined
  readonly certificate?: CredentialSource | undefined
  readonly key?: CredentialSource | undefined
}

/** A key of 256 bits for payloads. Its id is written next to each payload in plain text. */
export interface PayloadKeySource {
  readonly id: string
  readonly source: CredentialSource
}

/** Payloads are encrypted with the first key, and decrypted with any. */
export interface PayloadEncryption {
  readonly keys: readonly PayloadKeySource[]
  /** Refuse payloads that are not encrypted. A signal without arguments has no payload and is accepted. */
  readonly required: boolean
}

/** A Temporal server and its credentials, from the config, a profile of temporal.toml and TEMPORAL_*. */
export interface TemporalAccess {
  /** `host:port` */
  readonly address: string
  readonly namespace: string
  /** Absent: the connection has no TLS. */
  readonly tls?: TlsSettings | undefined
  readonly apiKey?: CredentialSource | undefined
  /** Further headers of every call. Their values are secrets. */
  readonly headers?: Readonly<Record<string, string>>
  /** Absent: payloads are plain JSON. */
  readonly encryption?: PayloadEncryption | undefined
  /** Names of the config's streams. Absent: callers use ids. */
  readonly streamNames?: StreamNames | undefined
  /** Never set. It makes the compiler refuse the config's map `temporal`, which lacks temporal.toml and TEMPORAL_*. */
  readonly useEnvironment?: never
}
