import { get } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { PlannedAttack } from './plan.ts'
import type { AttackScene } from './scene.ts'

/** Connections of each of the attacker's addresses: more than one address may hold. */
const perAddress = 120
/** All of this machine, and none that honest people ask from. */
const addresses = ['127.0.0.2', '127.0.0.3', '127.0.0.4']
/** An honest question that takes longer was shut out, ms. */
const answeredWithinMs = 10_000

/**
 * Requests that never end: headers and bodies that come byte by byte, from several addresses. Honest callers from
 * another address must still be answered.
 */
export async function slowApi(scene: AttackScene, { forMs }: PlannedAttack): Promise<string> {
  const until = Date.now() + 2 * forMs
  const holders = scene.fleet.alive.flatMap((one) => addresses.map((from) => ({ url: new URL(one.apiUrl), from, sockets: [] as Socket[] })))
  let [opened, asked] = [0, 0]
  try {
    while (Date.now() < until) {
      for (const { url, from, sockets } of holders) {
        // Connections that the API closed are opened again.
        const missing = perAddress - sockets.filter(({ destroyed }) => !destroyed).length
        for (let index = 0; index < missing; index++) sockets.push(slowSocket(url, from, opened++))
        for (const socket of sockets) if (socket.writable) socket.write('x')
      }
      await Promise.all(scene.fleet.alive.map((one) => ((asked += 1), askHonestly(scene, one))))
      await scene.wait(300)
    }
  } finally {
    for (const { sockets } of holders) for (const socket of sockets) socket.destroy()
  }
  return `${opened} connections, ${asked} honest questions meanwhile`
}

function slowSocket({ hostname, port }: URL, localAddress: string, index: number): Socket {
  const socket = connect({ host: hostname, port: Number(port), localAddress })
  const head = 'POST /v1/transfers HTTP/1.1\r\nhost: 127.0.0.1\r\n'
  // Every other one in its headers, the others in their body.
  socket.write(index % 2 === 0 ? `${head}x-slow: ` : `${head}content-type: application/json\r\ncontent-length: 100000\r\n\r\n{"vaa":"`)
  socket.on('error', () => socket.destroy())
  return socket.resume()
}

/** By a connection of its own: one that is kept may be closed by the API as idle in the moment of the question. */
async function askHonestly(scene: AttackScene, one: AttackScene['fleet']['alive'][number]): Promise<void> {
  try {
    await ask(one)
  } catch (error) {
    if (one.ended === undefined) scene.shutOut.push(`${one.apiUrl} did not answer: ${String(error)}`)
  }
}

/** Paths that need no Temporal, which other attackers may have wiped. */
function ask({ apiUrl, admin }: AttackScene['fleet']['alive'][number]): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { agent: false, headers: admin, signal: AbortSignal.timeout(answeredWithinMs) } as const
    get(new URL('/v1/openapi.json', apiUrl), options, (answer) => answer.resume().on('end', resolve).on('error', reject)).on(
      'error',
      reject,
    )
  })
}
