import { BlockList, isIP } from 'node:net'
import { optional, z } from 'zod'
import { isLink } from '../../domain/text/forms.ts'
import { notificationTypes } from '../../domain/notification/notification.ts'
import { lane, listOf, name, oneOf, path, usually, variable } from '../load/values.ts'

/**
 * Accepts https and, to this machine only, http, because notifications are confidential. Accepts no fragment or user.
 */
function isReceiverUrl(text: string): boolean {
  return isLink(text) && new URL(text).hash === ''
}

const credentialHosts = new Set(['metadata.google.internal', 'metadata.goog', 'metadata'])
/** Forbidden addresses: unspecified, link-local, and those where clouds (AWS, Google, Alibaba) keep credentials. */
const credentialAddresses = new BlockList()
const ipv4 = { '169.254.0.0': 16, '100.100.100.200': 32 }
const ipv6 = { '::': 128, 'fe80::': 10, 'fd00:ec2::254': 128, 'fd20:ce::254': 128 }
credentialAddresses.addSubnet('0.0.0.0', 8, 'ipv4')
for (const [net, bits] of Object.entries(ipv6)) credentialAddresses.addSubnet(net, bits, 'ipv6')
for (const [net, bits] of Object.entries(ipv4)) {
  credentialAddresses.addSubnet(net, bits, 'ipv4')
  // IPv6 addresses that contain an IPv4 address.
  for (const prefix of ['::', '::ffff:', '64:ff9b::']) credentialAddresses.addSubnet(`${prefix}${net}`, 96 + bits, 'ipv6')
}

function keepsCredentials(text: string): boolean {
  const host = new URL(text).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  const version = isIP(host)
  return version === 0 ? credentialHosts.has(host) : credentialAddresses.check(host, version === 6 ? 'ipv6' : 'ipv4')
}

const secretSchema = z
  .strictObject({
    secretFile: optional(path).describe('A file with only the secret, read at each notification.'),
    secretVariable: optional(variable).describe('Environment variable with the secret.'),
  })
  .refine(...oneOf('secretFile', 'secretVariable'))

const receiverSchema = z.strictObject({
  name: name.describe('A name of your choice, used in workflow ids, metrics and commands.'),
  url: z
    .string()
    .refine(isReceiverUrl, 'must be an https URL, or http on loopback (127.0.0.1, localhost), without a user and a fragment')
    .refine((text) => !isReceiverUrl(text) || !keepsCredentials(text), 'must not be an address where clouds keep credentials')
    .describe('URL of the webhook. Portage never shows path and query, which may be secret.'),
  secrets: listOf(secretSchema, 1, 5).describe(
    'Signing secrets: whsec_ and 24 to 64 random bytes in base64. Each secret signs every notification, so that you can change secrets without a gap.',
  ),
  events: z
    .array(z.enum(notificationTypes))
    .min(1)
    .describe('Events that the receiver gets. transfer.delivered includes transfer.reversed: docs/operate/notifications.md.'),
  chains: optional(listOf(name, 1, 100)).describe(
    'The receiver gets only events of these chains and of transfers from or to them. Absent: all chains.',
  ),
  bridges: optional(listOf(name, 1, 20)).describe(
    'The receiver gets only events of these bridges and of their transfers. Absent: all bridges.',
  ),
  lanes: optional(listOf(lane, 1, 100)).describe(
    'The receiver gets only events of these lanes and of transfers that they have sent. Absent: all lanes.',
  ),
})

export const notificationsSchema = usually(z.array(receiverSchema).max(20), []).describe(
  'Receivers of signed webhooks (Standard Webhooks). docs/operate/notifications.md',
)
