import { z } from 'zod'
import { notificationTypes } from '../../domain/notification/notification.ts'
import { name, variable } from '../load/values.ts'

/** https, since what is told and when is nobody else's; http only within this machine. Without a user: the signature says who we are. */
function isReceiverUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password, hash } = new URL(text)
  if (username !== '' || password !== '' || hash !== '') return false
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || /^127(\.[0-9]{1,3}){3}$/.test(hostname)
  return protocol === 'https:' || (protocol === 'http:' && isLoopback)
}

/** Where clouds keep the credentials of a machine: 169.254.0.0/16, fe80::/10, and a name for them. */
function isLinkLocal(text: string): boolean {
  const { hostname } = new URL(text)
  return hostname.startsWith('169.254.') || /^\[(fe[89ab]|::ffff:a9fe:)/i.test(hostname) || hostname === 'metadata.google.internal'
}

const secretSchema = z
  .strictObject({
    secretFile: z.string().min(1).optional().describe('A file whose only text is the secret; read again at each notification.'),
    secretVariable: variable.optional().describe('The environment variable that holds the secret.'),
  })
  .refine(
    ({ secretFile, secretVariable }) => (secretFile === undefined) !== (secretVariable === undefined),
    'must have secretFile or secretVariable, and not both',
  )

const receiverSchema = z.strictObject({
  name: name.describe('Its name, of your choice: its queue, metrics and commands have it.'),
  url: z
    .string()
    .refine(isReceiverUrl, 'must be an https URL, or http on loopback (127.0.0.1, localhost), without a user and a fragment')
    .refine((text) => !isReceiverUrl(text) || !isLinkLocal(text), 'must not be a link-local address, where clouds keep credentials')
    .describe('Where it is told. Path and query may be a secret: they are shown nowhere.'),
  secrets: z
    .array(secretSchema)
    .min(1)
    .max(5)
    .describe(
      'What signs: whsec_ and 24 to 64 random bytes in base64. Each of them signs each notification, so that a receiver can change from one to the next.',
    ),
  events: z
    .array(z.enum(notificationTypes))
    .min(1)
    .describe('What it is told of. With transfer.delivered it is told of transfer.reversed, too: docs/operate/notifications.md.'),
  chains: z
    .array(z.string().regex(/^[a-z][a-z0-9-]{0,30}$/, 'must be the name of a chain'))
    .min(1)
    .max(100)
    .optional()
    .describe('Only of what comes from these chains, goes to them or is about them. Absent: all.'),
  bridges: z.array(name).min(1).max(20).optional().describe('Only of transfers of these bridges, and what is about them. Absent: all.'),
  lanes: z
    .array(z.string().regex(/^[a-z]+-[0-9]+:0x[0-9a-f]{40}$/, 'must be a lane id in lower case: evm-1:0x…'))
    .min(1)
    .max(100)
    .optional()
    .describe('Only of these lanes, and of transfers that they have sent. Absent: all.'),
})

export const notificationsSchema = z
  .array(receiverSchema)
  .max(20)
  .default([])
  .describe('Receivers of signed webhooks (Standard Webhooks): who is told of what. docs/operate/notifications.md')
