import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startChild } from '../devnet/child.ts'
import type { PlannedAttack } from './plan.ts'
import { type AttackScene, withApi } from './scene.ts'

/** More connections than the API allows one address. */
const perAddress = 120
/** Loopback addresses that no honest user has. */
const addresses = ['127.0.0.2', '127.0.0.3', '127.0.0.4']

/** Sends requests byte by byte from several addresses. The requests never end. */
export async function slowApi(scene: AttackScene, { forMs }: PlannedAttack): Promise<string> {
  const until = Date.now() + 2 * forMs
  const holders = withApi(scene).flatMap((one) => addresses.map((from) => ({ url: new URL(one.apiUrl), from, sockets: [] as Socket[] })))
  let opened = 0
  try {
    while (Date.now() < until) {
      for (const { url, from, sockets } of holders) {
        const missing = perAddress - sockets.filter(({ destroyed }) => !destroyed).length
        for (let index = 0; index < missing; index++) sockets.push(slowSocket(url, from, opened++))
        for (const socket of sockets) if (socket.writable) socket.write('x')
      }
      await scene.wait(300)
    }
  } finally {
    for (const { sockets } of holders) for (const socket of sockets) socket.destroy()
  }
  return `${opened} connections`
}

function slowSocket({ hostname, port }: URL, localAddress: string, index: number): Socket {
  const socket = connect({ host: hostname, port: Number(port), localAddress })
  const head = 'POST /v1/transfers HTTP/1.1\r\nhost: 127.0.0.1\r\n'
  // In half of the requests, the headers never end. In the other half, the body never ends.
  socket.write(index % 2 === 0 ? `${head}x-slow: ` : `${head}content-type: application/json\r\ncontent-length: 100000\r\n\r\n{"vaa":"`)
  socket.on('error', () => socket.destroy())
  return socket.resume()
}

const strangers = fileURLToPath(new URL('../flood/strangers.ts', import.meta.url))

/** Sends pipelined, long and large requests without a token to every route, from a separate process (lab/flood). */
export async function floodApi(scene: AttackScene, { forMs }: PlannedAttack): Promise<string> {
  const [one] = withApi(scene)
  if (!one) throw new Error('no process is up')
  const args = [
    '--import',
    'tsx',
    strangers,
    one.apiUrl,
    '100',
    '500',
    JSON.stringify(['/', '/health', '/ready', '/metrics', '/v1/transfers']),
  ]
  const flood = await startChild(process.execPath, args, { logFile: join(scene.devnet.dir, 'strangers.txt'), env: process.env })
  await scene.wait(2 * forMs)
  if (flood.ended) throw new Error(`the process of the strangers ${flood.ended}: ${flood.tail()}`)
  await flood.stop(5_000)
  return `100 connections for ${2 * forMs} ms`
}
