import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { RelayerError, toRelayerError } from '../../domain/catalogue/errors.ts'
import { assertCheckpoint, checkpointOf, type StreamCheckpoint } from '../../domain/stream/checkpoint.ts'
import { createStreamNames, type StreamConfig, type StreamNames } from '../../domain/stream/stream.ts'
import { httpText } from '../submit/http.ts'
import type { TemporalClient } from '../../temporal/client/connection/client.ts'
import { readStream } from './reports.ts'
import type { Logger } from '../../observability/logger.ts'
import type { AgentAlarm } from './stream-metrics.ts'
import type { StreamClient } from './stream-client.ts'
import { problemOf } from '../../observability/severity.ts'

export type CheckpointPlace =
  | { readonly kind: 'directory'; readonly path: string }
  | { readonly kind: 'http'; readonly url: string; readonly authorization?: string | undefined }

export type CheckpointStore = ReturnType<typeof createCheckpointStore>

const timeoutMs = 10_000
const mostBytes = 2 * 1024 * 1024

/**
 * Reads and writes the texts of checkpoints. `put` is atomic. Throws CHECKPOINT_UNAVAILABLE, and CHECKPOINT_INVALID for
 * a text that is too long.
 */
export function createCheckpointFiles(place: CheckpointPlace) {
  return place.kind === 'directory' ? inDirectory(place) : overHttp(place)
}

/** A checkpoint is stored under its stream's id, so that it is found even after the config has renamed the chain. */
export function createCheckpointStore(place: CheckpointPlace, names: StreamNames = createStreamNames([])) {
  const { get, put } = createCheckpointFiles(place)
  return {
    /** Throws CHECKPOINT_UNAVAILABLE and CHECKPOINT_INVALID. */
    async read(stream: string): Promise<StreamCheckpoint | undefined> {
      const id = names.idOf(stream)
      const found = await get(id)
      return found === undefined ? undefined : { ...parseCheckpoint(id, found), stream }
    },
    write(checkpoint: StreamCheckpoint): Promise<void> {
      const stream = names.idOf(checkpoint.stream)
      return put(stream, `${JSON.stringify({ ...checkpoint, stream })}\n`)
    },
  }
}

/**
 * Writes the stream's checkpoint now. Throws INPUT_INVALID if the stream has read no block yet, CHECKPOINT_UNAVAILABLE,
 * and the errors of `readStream`.
 */
export async function writeCheckpoint(client: TemporalClient, store: CheckpointStore, stream: string): Promise<StreamCheckpoint> {
  const state = await readStream(client, stream)
  // A checkpoint without a block is useless to a stream that reads blocks, and would replace a better checkpoint.
  if (state.start !== undefined && !state.cursor)
    throw new RelayerError('INPUT_INVALID', { detail: 'the stream has read no block yet: there is nothing to keep', facts: { stream } })
  const written = checkpointOf(state)
  await store.write(written)
  return written
}

/** Throws CHECKPOINT_INVALID, which names the path of the invalid field. */
export function parseCheckpoint(stream: string, text: string): StreamCheckpoint {
  try {
    const value: unknown = JSON.parse(text)
    assertCheckpoint(value, stream)
    return value
  } catch (error) {
    const detail = error instanceof SyntaxError ? 'It is not JSON.' : (error as Error).message
    throw new RelayerError('CHECKPOINT_INVALID', { detail, facts: { stream } })
  }
}

function inDirectory({ path }: Extract<CheckpointPlace, { kind: 'directory' }>) {
  const fileOf = (stream: string) => join(path, `${stream.replaceAll(/[^\w.-]/g, '_')}.json`)
  return {
    async get(stream: string): Promise<string | undefined> {
      try {
        if ((await stat(fileOf(stream))).size > mostBytes) throw tooLong(stream)
        return await readFile(fileOf(stream), 'utf8')
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        if (cause instanceof RelayerError) throw cause
        throw unavailable(stream, cause)
      }
    },
    async put(stream: string, content: string): Promise<void> {
      const temporary = `${fileOf(stream)}.${randomBytes(4).toString('hex')}.tmp`
      try {
        await mkdir(path, { recursive: true, mode: 0o700 })
        const file = await open(temporary, 'w', 0o600)
        try {
          await file.writeFile(content)
          // Without `sync`, a crash of the machine could leave an empty file.
          await file.sync()
        } finally {
          await file.close()
        }
        await rename(temporary, fileOf(stream))
      } catch (cause) {
        await rm(temporary, { force: true }).catch(() => {})
        throw unavailable(stream, cause)
      }
    },
  }
}

function overHttp({ url, authorization }: Extract<CheckpointPlace, { kind: 'http' }>) {
  const headers = { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) }
  const request = (stream: string, init: { method: 'GET' | 'PUT'; body?: string }) => {
    const object = new URL(url)
    object.pathname = `${object.pathname.replace(/\/$/, '')}/${encodeURIComponent(stream)}.json`
    return httpText(object, { ...init, headers, timeoutMs, mostBytes })
  }
  return {
    async get(stream: string): Promise<string | undefined> {
      const answer = await request(stream, { method: 'GET' })
      if (answer.kind === 'found') return answer.body
      if (answer.kind === 'absent') return undefined
      if (answer.status !== undefined && answer.status < 300) throw tooLong(stream)
      throw unavailable(stream, new Error(answer.why))
    },
    async put(stream: string, body: string): Promise<void> {
      const answer = await request(stream, { method: 'PUT', body })
      if (answer.kind !== 'found') throw unavailable(stream, new Error(answer.kind === 'absent' ? 'HTTP 404' : answer.why))
    },
  }
}

function tooLong(stream: string): RelayerError {
  return new RelayerError('CHECKPOINT_INVALID', { detail: 'It is too long.', facts: { stream } })
}

function unavailable(stream: string, cause: unknown): RelayerError {
  const { code, message } = cause as NodeJS.ErrnoException
  return new RelayerError('CHECKPOINT_UNAVAILABLE', { detail: code ?? message, facts: { stream } })
}

export type CheckpointKeeper = ReturnType<typeof createCheckpointKeeper>

export function createCheckpointKeeper(
  { stream, start, origin }: Pick<StreamConfig, 'stream' | 'start' | 'origin'>,
  store: CheckpointStore | undefined,
  alarms: Set<AgentAlarm>,
  logger: Logger,
) {
  let written: { readonly key: string; readonly at: number } | undefined

  function complain(error: unknown, text = 'the checkpoint of a stream cannot be used'): void {
    if (!alarms.has('checkpoint')) logger.error(text, { stream, ...problemOf(error) })
    alarms.add('checkpoint')
  }

  return {
    complain,
    /** Returns undefined if the checkpoint is missing or invalid. Throws CHECKPOINT_UNAVAILABLE. */
    async read(): Promise<StreamCheckpoint | undefined> {
      try {
        const found = await store?.read(stream)
        if (found && found.origin !== origin)
          throw new RelayerError('CHECKPOINT_INVALID', { detail: `origin: ${found.origin}, and not ${origin}`, facts: { stream } })
        return found
      } catch (error) {
        complain(error)
        if (toRelayerError(error).code === 'CHECKPOINT_UNAVAILABLE') throw error
        return undefined
      }
    },
    async keep(streamClient: Pick<StreamClient, 'state'>, key: string): Promise<void> {
      if (!store || key === written?.key) return
      const state = await streamClient.state()
      if (!state || (start !== undefined && !state.cursor)) return
      try {
        await store.write({ ...checkpointOf(state), stream })
      } catch (error) {
        return complain(error, 'the checkpoint of a stream could not be written')
      }
      written = { key, at: performance.now() }
      alarms.delete('checkpoint')
    },
    /** ms, as `performance.now`. */
    get writtenAt(): number | undefined {
      return written?.at
    },
  }
}
