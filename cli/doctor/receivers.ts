import { randomUUID } from 'node:crypto'
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { receiversOf } from '../../config/receivers.ts'
import type { Config } from '../../config/schema/schema.ts'
import type { SendAnswer } from '../../domain/notification/attempts.ts'
import type { Receiver } from '../../domain/notification/notification.ts'
import type { TemporalAccess } from '../../domain/temporal-access.ts'
import { listReceivers, type ReceiverReport } from '../../operations/notifications/receiver-report.ts'
import { checkedSecret, sendNotification } from '../../operations/notifications/send.ts'
import { type Check, checkOf, checkTimeoutMs, fail, type Finding, ifReachable, look, warn } from './check.ts'

type Configured = Config['notifications'][number]

/** A missing secret is only a warning, because only processes of the role ledger need it. */
export async function checkReceivers(
  { notifications }: Config,
  temporal: TemporalAccess,
  { env, sendTest }: { readonly env: NodeJS.ProcessEnv; readonly sendTest: boolean },
): Promise<Check[]> {
  if (notifications.length === 0) return []
  const progress = ifReachable(temporal, async (client) =>
    (await listReceivers(client, notifications)).map((report) => checkOf(`receiver ${report.name}`, 'progress', progressFinding(report))),
  )
  const here = await Promise.all(notifications.map((one) => checkHere(one, env, sendTest)))
  return [...here.flat(), ...(await progress)]
}

async function checkHere(configured: Configured, env: NodeJS.ProcessEnv, sendTest: boolean): Promise<Check[]> {
  const { name, secrets, url } = configured
  const area = `receiver ${name}`
  const reached = look(area, 'url', () => reach(new URL(url)))
  const found = secrets.map((secret, index) => {
    const place = secret.secretFile ?? secret.secretVariable ?? ''
    return checkOf(area, `secret ${index + 1} (${place})`, secretFinding(configured, secret, env))
  })
  const checks = [await reached, ...found]
  if (!sendTest) return checks
  const isReady = found.every(({ status }) => status === 'ok')
  const test = look(area, 'test', async () => {
    const receiver = isReady ? receiversOf({ notifications: [configured] }, env).get(name) : undefined
    return receiver ? testFinding(receiver) : warn('not sent: its secrets are not all here', `portage notifications test ${name}`)
  })
  return [...checks, await test]
}

/** Connects to a receiver without sending a request. If its URL has https, the certificate is checked as well. */
async function reach({ protocol, hostname, port, host }: URL): Promise<Finding> {
  const isTls = protocol === 'https:'
  const to = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (isTls ? 443 : 80)) }
  // In TLS, the server name must not be an IP address.
  const socket: Socket = isTls ? connectTls({ ...to, ...(/^[\d.]+$|:/.test(to.host) ? {} : { servername: to.host }) }) : connectPlain(to)
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once(isTls ? 'secureConnect' : 'connect', resolve).once('error', reject)
      socket.setTimeout(checkTimeoutMs / 2, () => reject(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })))
    })
    return `${protocol}//${host} can be reached${isTls ? ', its certificate is valid' : ''}`
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'no connection'
    return fail(`${protocol}//${host} cannot be reached from here: ${code}`, reachRemedy(code))
  } finally {
    socket.destroy()
  }
}

function reachRemedy(code: string): string {
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'Correct the host in its url, or repair the DNS of this machine.'
  if (/CERT|SIGNATURE|ISSUER|CHAIN|ALTNAME|SSL/.test(code))
    return 'Give the receiver a certificate for that name which a public CA has signed, or name its CA in NODE_EXTRA_CA_CERTS.'
  return 'Start the receiver, correct the host and port in its url, or allow this machine to reach it (firewall, network policy, proxy).'
}

const makeSecret = 'echo "whsec_$(openssl rand -base64 32)"'

function secretFinding(configured: Configured, secret: Configured['secrets'][number], env: NodeJS.ProcessEnv): Finding {
  const { secretVariable, secretFile = '' } = secret
  if (secretVariable !== undefined && !env[secretVariable])
    return warn('is not set here', `Where a process of the role ledger runs, set ${secretVariable}. A new one: ${makeSecret}`)
  const [source] = receiversOf({ notifications: [{ ...configured, secrets: [secret] }] }, env).get(configured.name)?.secrets ?? []
  let text: string
  try {
    text = source?.read() ?? ''
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT')
      return warn('is not on this machine', `Where a process of the role ledger runs: (umask 077; ${makeSecret} > ${secretFile})`)
    return fail(`cannot be read: ${code ?? 'unknown'}`, 'Name a file that the user of the process can read.')
  }
  try {
    checkedSecret(text)
    return 'has the form of a secret'
  } catch (error) {
    return fail(error instanceof Error ? error.message : 'is not a secret', `Replace it, here and at the receiver: ${makeSecret}`)
  }
}

function progressFinding({ name, state, problem, disabled, unsent = 0, oldestUnsentAt, failingSince }: ReceiverReport): Finding {
  const waits = unsent === 0 ? '' : `; ${unsent} wait, the oldest of ${oldestUnsentAt ?? 'unknown'}`
  const enable = `portage notifications enable ${name} --reason <text>`
  switch (state) {
    case 'active':
      return unsent === 0
        ? 'receives all events'
        : warn(`does not accept all notifications${waits}`, `Read the log of the receiver; then portage notifications test ${name}`)
    case 'failing':
      return warn(
        `has not answered since ${failingSince ?? 'unknown'}: ${problem ?? 'unknown'}${waits}`,
        `Repair the receiver; then portage notifications test ${name}, which immediately sends the rest.`,
      )
    case 'disabled':
      return disabled?.why === 'gone'
        ? fail(
            `has answered 410: it wants no more notifications, and receives none${waits}`,
            `Correct its url, then ${enable}; or remove it from the config.`,
          )
        : warn(`is disabled by an operator, and receives no notifications${waits}`, enable)
    case 'waiting':
      return warn('its notifier has not begun', 'portage run --role ledger, with this config')
    case 'unknown':
      return warn(problem ?? 'its notifier does not answer', 'portage run --role ledger, with this config')
  }
}

const testTimeoutMs = checkTimeoutMs - 1_000

async function testFinding(receiver: Receiver): Promise<Finding> {
  const data = { by: 'portage doctor', reason: 'a test from this machine' }
  const id = `test_${randomUUID()}`
  const answer = await sendNotification(receiver, { id, type: 'notification.test', at: Date.now(), data }, { timeoutMs: testTimeoutMs })
  return answer.kind === 'taken' ? `has accepted ${id}` : fail(`did not accept ${id}: ${answer.why}`, testRemedy(answer))
}

function testRemedy(answer: Exclude<SendAnswer, { kind: 'taken' }>): string {
  if (answer.kind === 'gone') return 'Correct its url, or remove it from the config.'
  if (answer.kind === 'failed')
    return 'Check in its log whether the receiver runs. Start it, or repair the connection between it and this machine.'
  if (answer.why.includes('redirect')) return 'Set its url to the target of the redirect.'
  if (/\b40[13]\b/.test(answer.why))
    return 'Give the receiver the secret that signs here, and set the clocks: a signature is valid for five minutes.'
  return 'Correct the path in its url, or repair the receiver: its log has the id.'
}
