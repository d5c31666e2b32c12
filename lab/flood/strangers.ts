/**
 * Floods an API with requests without a valid token, in its own process. Arguments: URL of the API, number of
 * connections, requests per second, paths as JSON. On SIGTERM, prints the number of sent requests by kind.
 */
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const [, , url = '', connections = '100', rate = '500', pathsJson = '[]'] = process.argv
const { hostname, port } = new URL(url)
const paths = JSON.parse(pathsJson) as readonly string[]
/** Several addresses, because the API allows 100 connections per address. */
const addresses = ['127.0.0.2', '127.0.0.3', '127.0.0.4']
const sent: Record<string, number> = {}
let answered = 0
let turn = 0

const host = 'host: 127.0.0.1\r\n'
const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\n${host}${headers}\r\n`
const post = (path: string, body: string) =>
  `POST ${path} HTTP/1.1\r\n${host}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
const nextPath = () => paths[turn++ % paths.length] ?? '/'

/** Text of one request or burst of each kind. `requests`: number of requests in the text. */
const kinds = {
  everyRoute: () => ({ text: get(nextPath()), requests: 1 }),
  forgedToken: () => ({ text: get(nextPath(), `authorization: Bearer ${'a'.repeat(200)}.${'b'.repeat(200)}.c\r\n`), requests: 1 }),
  pipelinedMetrics: () => ({ text: get('/metrics').repeat(100), requests: 100 }),
  longPath: () => ({ text: get(`/${')'.repeat(15_000)}%ff`), requests: 1 }),
  largeBody: () => ({ text: post('/v1/transfers', `{"vaa":"${'='.repeat(200_000)}"}`), requests: 1 }),
  junk: () => ({ text: `${'x'.repeat(1_000)}\r\n\r\n`, requests: 1 }),
} as const satisfies Record<string, () => { text: string; requests: number }>

function open(index: number): Socket {
  const socket = connect({ host: hostname, port: Number(port), localAddress: addresses[index % addresses.length] })
  socket.on('data', () => (answered += 1)).on('error', () => socket.destroy())
  return socket
}

async function flood(index: number): Promise<never> {
  const names = Object.keys(kinds) as (keyof typeof kinds)[]
  const name = names[index % names.length] ?? 'everyRoute'
  let socket = open(index)
  for (;;) {
    const { text, requests } = kinds[name]()
    if (!socket.writable) socket = open(index)
    // Writes nothing more to a socket whose buffer is full, so that the buffers do not fill this process's memory.
    if (socket.writableLength < 1_000_000) {
      socket.write(text)
      sent[name] = (sent[name] ?? 0) + requests
    }
    await sleep((1_000 * Number(connections) * requests) / Number(rate))
  }
}

async function trickle(index: number): Promise<never> {
  let socket = open(index)
  for (;;) {
    if (!socket.writable) {
      socket = open(index)
      socket.write(
        index % 2 === 0 ? `GET / HTTP/1.1\r\n${host}x-slow: ` : `POST /v1/transfers HTTP/1.1\r\n${host}content-length: 1000\r\n\r\n`,
      )
      sent['slow'] = (sent['slow'] ?? 0) + 1
    }
    socket.write('x')
    await sleep(500)
  }
}

process.once('SIGTERM', () => process.stdout.write(`${JSON.stringify({ sent, answered })}\n`, () => process.exit(0)))
await Promise.all(Array.from({ length: Number(connections) }, (_, index) => (index % 5 === 4 ? trickle(index) : flood(index))))
