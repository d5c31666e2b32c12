import { z } from 'zod'
import { notificationTypes } from '../../domain/notification/notification.ts'
import { isLink, name, oneOf, text, variable } from '../load/values.ts'

/** https, because notifications are confidential. No user: the signature is enough. */
function isReceiverUrl(text: string): boolean {
  return isLink(text) && new URL(text).hash === ''
}

/** Addresses where clouds keep a machine's credentials: 169.254.0.0/16, fe80::/10, and a host name. */
function isLinkLocal(text: string): boolean {
  const { hostname } = new URL(text)
  return hostname.startsWith('169.254.') || /^\[(fe[89ab]|::ffff:a9fe:)/i.test(hostname) || hostname === 'metadata.google.internal'
}

const secretSchema = z
  .strictObject({
    secretFile: z.string().min(1).optional().describe('A file with only the secret. Read at each notification.'),
    secretVariable: variable.optional().describe('Environment variable with the secret.'),
  })
  .refine(...oneOf('secretFile', 'secretVariable'))

const receiverSchema = z.strictObject({
  name: name.describe('A name of your choice, used in queues, metrics and commands.'),
  url: z
    .string()
    .refine(isReceiverUrl, 'must be an https URL, or http on loopback (127.0.0.1, localhost), without a user and a fragment')
    .refine((text) => !isReceiverUrl(text) || !isLinkLocal(text), 'must not be a link-local address, where clouds keep credentials')
    .describe('URL of the webhook. Path and query may be secret and are never shown.'),
  secrets: z
    .array(secretSchema)
    .min(1)
    .max(5)
    .describe('Signing secrets: whsec_ and 24 to 64 random bytes in base64. Each signs, so that they can be rotated.'),
  events: z
    .array(z.enum(notificationTypes))
    .min(1)
    .describe('Events that are sent. transfer.delivered includes transfer.reversed: docs/operate/notifications.md.'),
  chains: z
    .array(name)
    .min(1)
    .max(100)
    .optional()
    .describe('Only events of transfers from or to these chains, and of the chains themselves. Absent: all.'),
  bridges: z.array(name).min(1).max(20).optional().describe('Only events of these bridges and their transfers. Absent: all.'),
  lanes: z
    .array(text(/^[a-z]+-[0-9]+:0x[0-9a-f]{40}$/, 'must be a lane id in lower case: evm-1:0x…'))
    .min(1)
    .max(100)
    .optional()
    .describe('Only events of these lanes and of transfers they have sent. Absent: all.'),
})

export const notificationsSchema = z
  .array(receiverSchema)
  .max(20)
  .default([])
  .describe('Receivers of signed webhooks (Standard Webhooks). docs/operate/notifications.md')
