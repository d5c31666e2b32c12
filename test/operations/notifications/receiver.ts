import { type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { Webhook } from 'standardwebhooks'
import type { CredentialSource } from '../../../domain/temporal-access.ts'
import { listenHttp } from '../../helpers/servers.ts'

export const testSecrets = {
  first: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
  second: `whsec_${Buffer.alloc(32, 2).toString('base64')}`,
} as const

export function secretSource(text: string): CredentialSource {
  return { from: 'a test', read: () => text }
}

export interface Received {
  readonly id: string
  readonly type: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly data: Readonly<Record<string, unknown>>
  readonly timestamp: string
  readonly sequence: number
}

export interface TestReceiver {
  readonly url: string
  /** Notifications with a valid signature, the oldest first. */
  readonly received: Received[]
  /** Bodies with an invalid signature. */
  readonly forged: string[]
  /** Answers a request. Tests may replace this function. */
  answer: (one: Received, response: ServerResponse) => void
}

/** Starts a receiver that verifies notifications with the package `standardwebhooks`. */
export async function startReceiver(secret: string = testSecrets.first): Promise<TestReceiver> {
  const webhook = new Webhook(secret)
  const receiver: TestReceiver = {
    url: '',
    received: [],
    forged: [],
    answer: (_, response) => void response.writeHead(204).end(),
  }
  const url = await listenHttp((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      try {
        const told = webhook.verify(body, plain(request.headers)) as Omit<Received, 'headers' | 'body'>
        const one = { ...told, headers: request.headers, body }
        receiver.received.push(one)
        receiver.answer(one, response)
      } catch (error) {
        receiver.forged.push(String(error))
        response.writeHead(401).end()
      }
    })
  })
  return Object.assign(receiver, { url: `${url}/hooks/path-secret` })
}

export const answering = (status: number, headers: Record<string, string> = {}) => {
  return (_: Received, response: ServerResponse) => void response.writeHead(status, headers).end()
}

function plain(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}
