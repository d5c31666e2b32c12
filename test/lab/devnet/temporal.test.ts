import { Client, Connection } from '@temporalio/client'
import { afterEach, describe, expect, test } from 'vitest'
import { startTemporal, type TemporalServer } from '../../../lab/devnet/temporal/temporal.ts'
import { searchAttributes } from '../../../temporal/contracts/names.ts'
import { temporaryFolder } from '../../helpers/folders.ts'

describe('the Temporal dev server', () => {
  const stops: (() => Promise<unknown>)[] = []

  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  })

  async function client(server: TemporalServer): Promise<Client> {
    const connection = await Connection.connect({ address: server.address })
    stops.push(() => connection.close())
    return new Client({ connection })
  }

  async function startOne(server: TemporalServer, workflowId = 'one'): Promise<void> {
    const typedSearchAttributes = [{ key: searchAttributes.TransferState, value: 'admitting' }]
    await (await client(server)).workflow.start('nobody', { workflowId, taskQueue: 'nowhere', typedSearchAttributes })
  }

  test('Temporal keeps its file, ports, search attributes and Web UI through kill -9 and a restart', async () => {
    const dir = temporaryFolder()
    const server = await startTemporal({ dir })
    stops.push(() => server.stop())
    await startOne(server)
    const { pid, address } = server
    await server.kill('SIGKILL')
    await server.restart()
    expect(server.pid).not.toBe(pid)
    expect(server.address).toBe(address)
    const found = await (await client(server)).workflow.getHandle('one').describe()
    expect(found.typedSearchAttributes.get(searchAttributes.TransferState)).toBe('admitting')
    // The Web UI may come up a little after the server.
    await expect.poll(async () => (await fetch(server.uiUrl ?? '')).status).toBe(200)
  })

  test('a Temporal in memory forgets everything at a restart', async () => {
    const server = await startTemporal({ inMemory: true, headless: true })
    stops.push(() => server.stop())
    await startOne(server)
    await server.restart()
    await expect((await client(server)).workflow.getHandle('one').describe()).rejects.toThrow(/not found/i)
  })

  test('Temporal restarts from a copy that was made while it ran, or from nothing', async () => {
    const dir = temporaryFolder()
    const server = await startTemporal({ dir, headless: true })
    stops.push(() => server.stop())
    await startOne(server, 'before')
    const copy = await server.copy()
    await startOne(server, 'after')
    await server.restartFrom(copy)
    const known = async (id: string) =>
      (await client(server)).workflow
        .getHandle(id)
        .describe()
        .then(() => true)
    expect(await known('before')).toBe(true)
    await expect(known('after')).rejects.toThrow(/not found/i)
    await server.restartFrom('nothing')
    await expect(known('before')).rejects.toThrow(/not found/i)
    // The copy must be usable for a second restart.
    await server.restartFrom(copy)
    expect(await known('before')).toBe(true)
  })

  test('the error of a Temporal that does not start quotes its output', async () => {
    const starting = startTemporal({ inMemory: true, headless: true, dynamicConfig: { 'frontend.rps': 'no json' } })
    await expect(starting).rejects.toMatchObject({ code: 'TEMPORAL_UNAVAILABLE', message: expect.stringContaining('frontend.rps') })
  })
})
