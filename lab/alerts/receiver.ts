import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { ConfigInput } from '../devnet/relayer-config.ts'

export interface AlertReceiver {
  readonly configured: NonNullable<ConfigInput['notifications']>[number]
  answer: number
  stop(): Promise<void>
}

/**
 * Starts an HTTP receiver on loopback for webhooks about delivered transfers. Writes the receiver's secret to `dir`.
 */
export async function startAlertReceiver(dir: string): Promise<AlertReceiver> {
  const secretFile = join(dir, 'receiver-secret')
  await writeFile(secretFile, `whsec_${randomBytes(32).toString('base64')}`, { mode: 0o600 })
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(receiver.answer).end())
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const receiver: AlertReceiver = {
    configured: { name: 'books', url: `http://127.0.0.1:${port}/`, secrets: [{ secretFile }], events: ['transfer.delivered'] },
    answer: 204,
    stop() {
      server.closeAllConnections()
      return new Promise((resolve) => void server.close(() => resolve()))
    },
  }
  return receiver
}
