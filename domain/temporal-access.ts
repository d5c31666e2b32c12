import type { StreamNames } from './stream/stream.ts'

/** A secret or certificate, which is read at each use. Printing the object does not show the text. */
export interface CredentialSource {
  readonly from: string
  /** Absolute path. Absent: the text is in an environment variable or in the setting, and cannot change. */
  readonly file?: string
  /** Throws the system's error if the file cannot be read. */
  read(): string
}

/** Without `ca`, the client trusts Node's CAs. Without `certificate` and `key`, it presents no certificate. */
export interface TlsSettings {
  readonly serverName?: string | undefined
  readonly ca?: CredentialSource | undefined
  readonly certificate?: CredentialSource | undefined
  readonly key?: CredentialSource | undefined
}

/** The key has 256 bits. Each payload names the `id` of its key in plain text. */
export interface PayloadKeySource {
  readonly id: string
  readonly source: CredentialSource
}

/** The first key encrypts payloads. The other keys only decrypt earlier payloads. */
export interface PayloadEncryption {
  readonly keys: readonly PayloadKeySource[]
  /** True: plain payloads are refused. A signal without arguments has no payload, and is always accepted. */
  readonly required: boolean
}

export interface TemporalAccess {
  readonly address: string
  readonly namespace: string
  /** Absent: the connection has no TLS. */
  readonly tls?: TlsSettings | undefined
  readonly apiKey?: CredentialSource | undefined
  /** Metadata of every call. The values are secrets. */
  readonly headers?: Readonly<Record<string, string>>
  readonly encryption?: PayloadEncryption | undefined
  readonly streamNames?: StreamNames | undefined
  /** Never set, so that the compiler rejects the config's map `temporal`, which lacks the values of the environment. */
  readonly useEnvironment?: never
}
