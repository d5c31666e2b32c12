import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Treatment of requests. `well`: correct answers. `hang`: no answers. A number: status of every answer. */
export type ServiceMode = 'well' | 'hang' | number

export interface SigningService {
  readonly url: string
  mode: ServiceMode
  readonly signatures: number
  /** Number of requests that failed because of `mode`: they got no answer, or an answer with the status in `mode`. */
  readonly refusals: number
  stop(): Promise<void>
}

export interface Answer {
  readonly status: number
  readonly type: string
  readonly body: string
  readonly signed?: boolean
}

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
