import type { StreamNames } from './stream/stream.ts'

/** A secret or certificate that is read at each use. Printing this object does not show its text. */
export interface CredentialSource {
  readonly from: string
  /**
   * Absolute path. Absent: the text comes from an environment variable or from the setting itself, so it cannot change.
   */
  readonly file?: string
  /** Throws the system's error if the file cannot be read. */
  read(): string
}

/** Without `ca`, Node's CAs are trusted. Without `certificate` and `key`, the client presents no certificate. */
export interface TlsSettings {
  readonly serverName?: string | undefined
  readonly ca?: CredentialSource | undefined
  readonly certificate?: CredentialSource | undefined
  readonly key?: CredentialSource | undefined
}

/** A 256-bit key for payloads. Its id is written next to each payload in plain text. */
export interface PayloadKeySource {
  readonly id: string
  readonly source: CredentialSource
}

/** Payloads are encrypted with the first key and decrypted with any key. */
export interface PayloadEncryption {
  readonly keys: readonly PayloadKeySource[]
  /** Whether plain payloads are refused. A signal without arguments has no payload and is always accepted. */
  readonly required: boolean
}

export interface TemporalAccess {
  readonly address: string
  readonly namespace: string
  /** Absent: the connection has no TLS. */
  readonly tls?: TlsSettings | undefined
  readonly apiKey?: CredentialSource | undefined
  /** Metadata that is added to every call. The values are secrets. */
  readonly headers?: Readonly<Record<string, string>>
  readonly encryption?: PayloadEncryption | undefined
  readonly streamNames?: StreamNames | undefined
  /**
   * This field is never set. Without it, the compiler would accept the config's map `temporal`, which lacks
   * temporal.toml and TEMPORAL_*.
   */
  readonly useEnvironment?: never
}
