import type { ServerResponse } from 'node:http'
import { listenHttp } from './servers.ts'

/** Starts an attacker's HTTP server, which runs until the test ends. Returns its URL. */
export function startHostileServer(answer: (body: string, response: ServerResponse) => void): Promise<string> {
  return listenHttp((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => answer(body, response))
  })
}
