import { once } from 'node:events'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { type ErrorCode, type Facts, RelayerError } from '../../../domain/catalogue/errors.ts'
import type { TemporalAccess } from '../../../domain/temporal-access.ts'
import type { TemporalCredentials } from './credentials.ts'
import { detailOf } from './errors.ts'

const tlsTimeoutMs = 2_000

/** The HTTP/2 preface with an empty SETTINGS frame (RFC 9113 section 3.4). The server answers with a SETTINGS frame. */
const preface = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])])
const settingsFrame = 4

/**
 * Finds out why a connection fails, because the SDK does not say why. Throws TEMPORAL_UNAVAILABLE or the code of a TLS
 * error.
 */
export async function checkHandshake(
  { address }: TemporalAccess,
  credentials: TemporalCredentials,
  { stopping, timeoutMs, facts }: { readonly stopping?: AbortSignal | undefined; readonly timeoutMs: number; readonly facts: Facts },
): Promise<void> {
  const stage = { handshakeDone: false }
  const socket = open(address, credentials)
  socket.once(credentials.tls ? 'secureConnect' : 'connect', () => {
    stage.handshakeDone = true
    socket.write(preface)
  })
  // A socket's idle time-out would never end a connection whose server sends single bytes.
  const timer = setTimeout(() => socket.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  socket.once('end', () => socket.destroy(Object.assign(new Error('the server ended the connection'), { code: 'ECONNRESET' })))
  try {
    const [first] = (await once(socket, 'data', { signal: stopping })) as [Buffer]
    if (first[3] !== settingsFrame) throw new Error('the server does not speak HTTP/2')
  } catch (error) {
    const isStopping = stopping?.aborted === true
    const plainCode = !isStopping && !credentials.tls && (await speaksTls(address)) ? 'TEMPORAL_TLS' : undefined
    const code = credentials.tls ? tlsErrorCode(error, stage.handshakeDone) : plainCode
    throw new RelayerError(code ?? 'TEMPORAL_UNAVAILABLE', { detail: plain(detailOf(error)), facts, cause: error })
  } finally {
    clearTimeout(timer)
    socket.destroy()
  }
}

function open(address: string, { tls }: TemporalCredentials): Socket {
  const at = hostAndPort(address)
  if (!tls) return guarded(connectTcp(at))
  const { serverName, ca, pair } = tls
  // SNI allows only names (RFC 6066). Node still compares an IP address with the certificate.
  const servername = serverName ?? (isIP(at.host) ? '' : at.host)
  const pairOptions = pair && { cert: pair.certificate, key: pair.key }
  return guarded(connectTls({ ...at, servername, ALPNProtocols: ['h2'], ...(ca && { ca }), ...pairOptions }))
}

/**
 * Adds a listener that stays: an error without a listener would end the process, and `once` removes its listener after
 * the first event.
 */
function guarded(socket: Socket): Socket {
  return socket.on('error', () => {})
}

function hostAndPort(address: string): { host: string; port: number } {
  const { hostname, port } = new URL(`tcp://${address}`)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 7233) }
}

/** `…:SSL routines:ssl3_read_bytes:tlsv1 alert unknown ca:…` becomes `tlsv1 alert unknown ca`. */
function plain(message: string): string {
  return /:SSL routines:[^:]*:([^:]+)/.exec(message)?.[1] ?? message.trim()
}

const untrusted = /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_|INVALID_CA|HOSTNAME_MISMATCH|ERR_TLS_CERT_ALTNAME_INVALID)/
/** TLS alerts of a server that rejects Portage's certificate (RFC 8446 section 6.2). */
const refusesOurs = /alert (certificate|bad certificate|unsupported certificate|unknown ca|access denied)|certificate required/i

/**
 * In TLS 1.3, the server checks the certificate after the handshake. A close at that time counts as a refused
 * certificate.
 */
function tlsErrorCode(error: unknown, handshakeDone: boolean): ErrorCode | undefined {
  const { code = '', message } = error as NodeJS.ErrnoException
  if (untrusted.test(code)) return 'TEMPORAL_UNTRUSTED'
  if (refusesOurs.test(message)) return 'TEMPORAL_CERTIFICATE_REFUSED'
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/.test(code) || /wrong version number|packet length/i.test(message))
    return 'TEMPORAL_NO_TLS'
  return handshakeDone && (code === 'ECONNRESET' || code === 'EPIPE') ? 'TEMPORAL_CERTIFICATE_REFUSED' : undefined
}

/**
 * Tries a TLS handshake, because a TLS server may just close a plain connection, which does not show that it speaks
 * TLS.
 */
async function speaksTls(address: string): Promise<boolean> {
  const socket = guarded(connectTls({ ...hostAndPort(address), rejectUnauthorized: false, timeout: tlsTimeoutMs }))
  socket.once('timeout', () => socket.destroy(new Error('no handshake')))
  try {
    await once(socket, 'secureConnect')
    return true
  } catch (error) {
    // The server may want a certificate or another cipher, but it speaks TLS.
    return error instanceof Error && /\balert\b/i.test(error.message)
  } finally {
    socket.destroy()
  }
}
