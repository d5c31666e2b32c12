import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { ConfigInput } from '../devnet/relayer-config.ts'

/** A receiver of notifications that answers with the status in `answer`. */
export interface AlertReceiver {
  /** The receiver's entry in `notifications` of the config. */
  readonly configured: NonNullable<ConfigInput['notifications']>[number]
  /** HTTP status of all further answers. */
  answer: number
  stop(): Promise<void>
}

/**
 * Listens on loopback and subscribes to every delivery.
 * @param dir folder for its secret
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
