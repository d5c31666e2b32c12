import type { StreamNames } from './stream/stream-names.ts'

/** A secret or certificate that is read when it is needed. Nobody sees it by printing the object that holds this. */
export interface CredentialSource {
  /** Which setting named it: `the config file`, `TEMPORAL_API_KEY`, `profile prod of /etc/temporal.toml`. */
  readonly from: string
  /** The file that holds it, absolute; absent: it is a variable or stands in the setting itself, and does not change while the process runs. */
  readonly file?: string
  /** Its text as it is now. Throws what the system says if the file cannot be read. */
  read(): string
}

/** TLS to Temporal. Without `ca` the CAs of Node are trusted; without `certificate` and `key` the server is not told who we are. */
export interface TlsSettings {
  /** Checked in the server's certificate in place of the host of the address. */
  readonly serverName?: string | undefined
  readonly ca?: CredentialSource | undefined
  readonly certificate?: CredentialSource | undefined
  readonly key?: CredentialSource | undefined
}

/** A key of 256 bits for payloads. Its id stands beside what was encrypted with it, for everybody to see. */
export interface PayloadKeySource {
  readonly id: string
  readonly source: CredentialSource
}

/** What Temporal is given to keep is encrypted with the first key, and read with any of them. */
export interface PayloadEncryption {
  readonly keys: readonly PayloadKeySource[]
  /** Payloads that are not encrypted are refused. What has none, such as a signal without arguments, is not. */
  readonly required: boolean
}

/** A Temporal server and what we show it: the result of the config, a profile of temporal.toml and the TEMPORAL_* variables. */
export interface TemporalAccess {
  /** `host:port` */
  readonly address: string
  readonly namespace: string
  /** Absent: plain text. */
  readonly tls?: TlsSettings | undefined
  readonly apiKey?: CredentialSource | undefined
  /** More headers of every call; their values are secrets. */
  readonly headers?: Readonly<Record<string, string>>
  /** Absent: payloads are plain JSON. */
  readonly encryption?: PayloadEncryption | undefined
  /** The config's names for streams. Absent: callers use ids. */
  readonly streamNames?: StreamNames | undefined
  /** A field of the config's map `temporal`, which is no access yet: it would be a connection without what files and variables say. */
  readonly useEnvironment?: never
}
