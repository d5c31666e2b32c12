import { spawn } from 'node:child_process'
import { type IncomingMessage, type ServerResponse } from 'node:http'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../../lab/devnet/until.ts'
import { createStreamNames } from '../../../domain/stream/stream.ts'
import type { StreamCheckpoint } from '../../../domain/stream/checkpoint.ts'
import { createCheckpointStore } from '../../../intake/streams/checkpoints.ts'
import { codeOfAsync } from '../../helpers/refusals.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { listenHttp } from '../../helpers/servers.ts'

const checkpoint: StreamCheckpoint = { version: 1, stream: 'native-bridge:a:b', origin: '1/0xaa', completedNumber: '4', exceptions: [] }
const secret = 'Bearer of-a-secret'

describe('checkpoints in a folder', () => {
  const folder = temporaryFolder()

  test('checkpoints in a folder are read as written, and no partial file remains', async () => {
    const store = createCheckpointStore({ kind: 'directory', path: join(folder, 'new') })
    expect(await store.read(checkpoint.stream)).toBeUndefined()
    await Promise.all([store.write(checkpoint), store.write({ ...checkpoint, completedNumber: '5' })])
    expect(await store.read(checkpoint.stream)).toMatchObject({ stream: checkpoint.stream })
    expect(await readdir(join(folder, 'new'))).toEqual(['native-bridge_a_b.json'])
  })

  test('checkpoints are found again after a chain of their stream was renamed', async () => {
    const place = { kind: 'directory', path: join(folder, 'renamed') } as const
    const named = (name: string) => createCheckpointStore(place, createStreamNames([{ id: 'native-bridge:1:2', name }]))
    await named(checkpoint.stream).write(checkpoint)
    expect(await readdir(place.path)).toEqual(['native-bridge_1_2.json'])
    expect(await named('native-bridge:c:d').read('native-bridge:c:d')).toEqual({ ...checkpoint, stream: 'native-bridge:c:d' })
  })

  test('checkpoints stay whole if their writer is killed again and again', async () => {
    const path = join(folder, 'killed')
    const store = createCheckpointStore({ kind: 'directory', path })
    const module = pathToFileURL(fileURLToPath(new URL('../../../intake/streams/checkpoints.ts', import.meta.url))).href
    const script = `
      const { createCheckpointStore } = await import(${JSON.stringify(module)})
      const store = createCheckpointStore({ kind: 'directory', path: ${JSON.stringify(path)} })
      const one = { number: '10', outcome: 'skipped', by: 'ops', at: 1, reason: 'x'.repeat(200) }
      const kept = { ...${JSON.stringify(checkpoint)}, exceptions: Array.from({ length: 1_000 }, () => one) }
      for (let number = Number(process.argv[1]); ; number++) await store.write({ ...kept, completedNumber: String(number) })`
    const read = async () => Number((await store.read(checkpoint.stream))?.completedNumber ?? 0)
    for (let round = 0, last = 0; round < 5; round++) {
      const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script, String(last + 1)])
      const ended = new Promise((resolve) => child.on('exit', resolve))
      try {
        const before = last
        last = await until(async () => (await read()) > before + 3 && read(), { timeoutMs: 90_000, everyMs: 1, what: 'it to write' })
      } finally {
        child.kill('SIGKILL')
        await ended
      }
      expect(await read()).toBeGreaterThanOrEqual(last)
      last = await read()
    }
    await store.write({ ...checkpoint, completedNumber: '5' })
    expect(await read()).toBe(5)
  })

  test('an unusable checkpoint folder is reported', async () => {
    const file = join(folder, 'file')
    await writeFile(file, '')
    const store = createCheckpointStore({ kind: 'directory', path: join(file, 'below') })
    expect(await codeOfAsync(() => store.write(checkpoint))).toBe('CHECKPOINT_UNAVAILABLE')
  })
})

describe('checkpoints in an object store', () => {
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const key = request.url ?? ''
    if (request.headers.authorization !== secret) return void response.writeHead(401).end()
    if (status !== undefined) return void response.writeHead(status).end()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    if (request.method === 'PUT') {
      objects.set(key, Buffer.concat(chunks).toString())
      return void response.writeHead(200).end()
    }
    const found = objects.get(key)
    response.writeHead(found === undefined ? 404 : 200).end(found)
  }

  const objects = new Map<string, string>()
  let url: string
  let status: number | undefined
  beforeAll(async () => {
    url = `${await listenHttp((request, response) => void serve(request, response))}/bucket/portage/?key=of-a-secret`
  })

  test('checkpoints in an object store are read as written, with its query and header', async () => {
    const store = createCheckpointStore({ kind: 'http', url, authorization: secret })
    expect(await store.read(checkpoint.stream)).toBeUndefined()
    await store.write(checkpoint)
    expect([...objects.keys()]).toEqual(['/bucket/portage/native-bridge%3Aa%3Ab.json?key=of-a-secret'])
    expect(await store.read(checkpoint.stream)).toEqual(checkpoint)
    objects.set([...objects.keys()][0] ?? '', '{"version":3}')
    expect(await codeOfAsync(() => store.read(checkpoint.stream))).toBe('CHECKPOINT_INVALID')
  })

  test('reading stops after the longest possible checkpoint', async () => {
    const store = createCheckpointStore({ kind: 'http', url, authorization: secret })
    objects.set('/bucket/portage/endless.json?key=of-a-secret', 'x'.repeat(40_000_000))
    expect(await codeOfAsync(() => store.read('endless'))).toBe('CHECKPOINT_INVALID')
  })

  test('a refusing or absent object store is reported without its URL', async () => {
    const tells = async (store: ReturnType<typeof createCheckpointStore>) => {
      const error: unknown = await store.write(checkpoint).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'CHECKPOINT_UNAVAILABLE' })
      expect(JSON.stringify([error, String(error), (error as Error).stack])).not.toContain('of-a-secret')
    }
    await tells(createCheckpointStore({ kind: 'http', url }))
    await tells(createCheckpointStore({ kind: 'http', url: 'http://127.0.0.1:1/?key=of-a-secret', authorization: secret }))
    status = 503
    await tells(createCheckpointStore({ kind: 'http', url, authorization: secret }))
    status = undefined
  })
})
