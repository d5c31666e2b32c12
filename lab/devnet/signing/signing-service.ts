import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A signing service's treatment of requests: correct, no answer, or an answer with this status. */
export type ServiceMode = 'well' | 'hang' | number

/** A signing service of the devnet. It can be made to fail, and counts its requests. */
export interface SigningService {
  readonly url: string
  mode: ServiceMode
  /** How many signatures it has given. */
  readonly signatures: number
  /** Requests without an answer, or with the status of a failure mode. */
  readonly refusals: number
  stop(): Promise<void>
}

export interface Answer {
  readonly status: number
  readonly type: string
  readonly body: string
  /** True if the answer had a signature. */
  readonly signed?: boolean
}

/** Serves `answer` on a port of 127.0.0.1, by default a free one. */
export async function startSigningService(
  answer: (request: IncomingMessage, body: string) => Answer,
  port = 0,
): Promise<SigningService & { mode: ServiceMode }> {
  const hanging = new Set<ServerResponse>()
  let signatures = 0
  let refusals = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (service.mode !== 'well') refusals++
      if (service.mode === 'hang') return void hanging.add(response)
      if (typeof service.mode === 'number') return void response.writeHead(service.mode).end('a page of the gateway')
      const { status, type, body, signed } = answer(request, Buffer.concat(chunks).toString())
      if (signed === true) signatures++
      response.writeHead(status, { 'content-type': type }).end(body)
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const service = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mode: 'well' as ServiceMode,
    get signatures() {
      return signatures
    },
    get refusals() {
      return refusals
    },
    stop: () =>
      new Promise<void>((resolve) => {
        for (const response of hanging) response.destroy()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return service
}
