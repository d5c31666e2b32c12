import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startTcpProxy, type TcpProxy } from '../../../lab/devnet/fault-proxy/tcp-proxy.ts'
import { listen } from '../../helpers/servers.ts'

let serverPort: number
let proxy: TcpProxy
const opened: Socket[] = []
let heard = ''

beforeEach(async () => {
  heard = ''
  const server = createServer((socket) => {
    opened.push(socket)
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      heard += String(bytes)
      socket.write(`<${String(bytes)}>`)
    })
  })
  serverPort = Number((await listen(server)).split(':')[1])
  proxy = await startTcpProxy({ host: '127.0.0.1', port: serverPort })
})

afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy()
  await proxy.stop()
})

async function dial(): Promise<{ socket: Socket; told(): string; closed: Promise<unknown> }> {
  const socket = connect(proxy.port, '127.0.0.1')
  opened.push(socket)
  let text = ''
  socket.on('error', () => {})
  socket.on('data', (bytes) => (text += String(bytes)))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await once(socket, 'connect')
  return { socket, told: () => text, closed }
}

test('the TCP proxy passes on bytes and ends both ways', async () => {
  const { socket, told, closed } = await dial()
  socket.write('one')
  await expect.poll(told).toBe('<one>')
  socket.end()
  await closed
  await expect.poll(() => proxy.connections).toBe(0)
})

test('a cut of the TCP proxy resets open and new connections until it ends', async () => {
  const before = await dial()
  before.socket.write('one')
  await expect.poll(before.told).toBe('<one>')
  proxy.cut()
  await before.closed
  // The system accepts the connection before the proxy can refuse it.
  await new Promise((resolve) =>
    connect(proxy.port, '127.0.0.1')
      .on('error', () => {})
      .once('close', resolve),
  )
  proxy.heal()
  const after = await dial()
  after.socket.write('two')
  await expect.poll(after.told).toBe('<two>')
})

test('a stalled TCP proxy passes on nothing, and sends the held bytes afterwards', async () => {
  const before = await dial()
  before.socket.write('one')
  await expect.poll(before.told).toBe('<one>')
  proxy.stall()
  before.socket.write('two')
  const during = await dial()
  during.socket.write('three')
  await expect.poll(() => proxy.connections).toBe(2)
  // The bytes of a later direct connection arrive first, which shows that the proxy holds back `two` and `three`.
  const direct = connect(serverPort, '127.0.0.1')
  opened.push(direct)
  direct.write('direct')
  await once(direct, 'data')
  expect([heard, before.told(), during.told(), before.socket.closed, during.socket.closed]).toEqual([
    'onedirect',
    '<one>',
    '',
    false,
    false,
  ])
  proxy.heal()
  await expect.poll(before.told).toBe('<one><two>')
  await expect.poll(during.told).toBe('<three>')
})
