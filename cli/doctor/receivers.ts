import { randomUUID } from 'node:crypto'
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { receiversOf } from '../../config/receivers.ts'
import type { Config } from '../../config/schema/schema.ts'
import type { SendAnswer } from '../../domain/notification/attempts.ts'
import type { Receiver } from '../../domain/notification/receiver.ts'
import type { TemporalAccess } from '../../domain/temporal-access.ts'
import { listReceivers, type ReceiverReport } from '../../operations/notifications/receiver-report.ts'
import { checkedSecret, sendNotification } from '../../operations/notifications/send.ts'
import { withTemporalClient } from '../../temporal/client/connection/connect.ts'
import { type Check, checkTimeoutMs, fail, type Finding, look, warn } from './check.ts'

type Configured = Config['notifications'][number]

export interface ReceiverChecks {
  readonly env: NodeJS.ProcessEnv
  /** Sends each a signed notification.test. Without it nothing is sent: a connection is opened, and closed. */
  readonly sendTest: boolean
}

/**
 * Checks each receiver of notifications from this machine: its URL, its secrets, and what its notifier says of it, where Temporal answers (checkTemporal reports it
 * if not). Secrets that are not here are no failure: only processes of the role ledger need them.
 */
export async function checkReceivers(config: Config, temporal: TemporalAccess, { env, sendTest }: ReceiverChecks): Promise<Check[]> {
  const { notifications } = config
  if (notifications.length === 0) return []
  const told = withTemporalClient(temporal, async (client) =>
    (await listReceivers(client, notifications)).map((report) => checkOf(report.name, 'told', toldFinding(report))),
  ).catch(() => [])
  const here = await Promise.all(notifications.map((one) => checkHere(one, env, sendTest)))
  return [...here.flat(), ...(await told)]
}

async function checkHere(configured: Configured, env: NodeJS.ProcessEnv, sendTest: boolean): Promise<Check[]> {
  const { name, secrets, url } = configured
  const reached = look(areaOf(name), 'url', () => reach(new URL(url)))
  const found = secrets.map((secret, index) => checkOf(name, secretName(secret, index), secretFinding(configured, secret, env)))
  const checks = [await reached, ...found]
  if (!sendTest) return checks
  const isReady = found.every(({ status }) => status === 'ok')
  const test = look(areaOf(name), 'test', async () => {
    const receiver = isReady ? receiversOf({ notifications: [configured] }, env).get(name) : undefined
    return receiver ? testFinding(receiver) : warn('not sent: its secrets are not all here', `portage notifications test ${name}`)
  })
  return [...checks, await test]
}

function areaOf(receiver: string): string {
  return `receiver ${receiver}`
}

function checkOf(receiver: string, name: string, finding: Finding): Check {
  const area = areaOf(receiver)
  return typeof finding === 'string' ? { area, name, status: 'ok', detail: finding } : { area, name, ...finding }
}

/** Opens a connection, for https with the certificate checked, and asks nothing. */
async function reach({ protocol, hostname, port, host }: URL): Promise<Finding> {
  const isTls = protocol === 'https:'
  const to = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (isTls ? 443 : 80)) }
  // A name goes to the server with the handshake; an address must not.
  const socket: Socket = isTls ? connectTls({ ...to, ...(/^[\d.]+$|:/.test(to.host) ? {} : { servername: to.host }) }) : connectPlain(to)
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once(isTls ? 'secureConnect' : 'connect', resolve).once('error', reject)
      socket.setTimeout(checkTimeoutMs / 2, () => reject(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })))
    })
    return `${protocol}//${host} can be reached${isTls ? ', its certificate is good' : ''}`
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'no connection'
    return fail(`${protocol}//${host} cannot be reached from here: ${code}`, reachRemedy(code))
  } finally {
    socket.destroy()
  }
}

function reachRemedy(code: string): string {
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'Correct the host in its url, or mend the DNS of this machine.'
  if (/CERT|SIGNATURE|ISSUER|CHAIN|ALTNAME|SSL/.test(code))
    return 'Give the receiver a certificate for that name which a public CA has signed, or name its CA in NODE_EXTRA_CA_CERTS.'
  return 'Start the receiver, correct the host and port in its url, or let this machine reach it (firewall, network policy, proxy).'
}

type Secret = Configured['secrets'][number]

function secretName({ secretFile, secretVariable }: Secret, index: number): string {
  return `secret ${index + 1} (${secretFile ?? secretVariable ?? ''})`
}

const makeSecret = 'echo "whsec_$(openssl rand -base64 32)"'

/** Only its form: which secret the receiver knows is shown by a test. */
function secretFinding(configured: Configured, secret: Secret, env: NodeJS.ProcessEnv): Finding {
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
    return fail(`cannot be read: ${code ?? 'unknown'}`, 'Name a file that the user of the process may read.')
  }
  try {
    checkedSecret(text)
    return 'has the form of a secret'
  } catch (error) {
    return fail(error instanceof Error ? error.message : 'is none', `Put one in its place, here and at the receiver: ${makeSecret}`)
  }
}

/** As its notifier recorded it. */
function toldFinding({ name, state, problem, disabled, unsent = 0, oldestUnsentAt, failingSince }: ReceiverReport): Finding {
  const waits = unsent === 0 ? '' : `; ${unsent} wait, the oldest of ${oldestUnsentAt ?? 'unknown'}`
  const enable = `portage notifications enable ${name} --reason <text>`
  switch (state) {
    case 'active':
      return unsent === 0
        ? 'is told what happens'
        : warn(`does not take all of it${waits}`, `Look at the log of the receiver; then portage notifications test ${name}`)
    case 'failing':
      return warn(
        `has not answered since ${failingSince ?? 'unknown'}: ${problem ?? 'unknown'}${waits}`,
        `Mend the receiver; then portage notifications test ${name}, which has the rest sent at once.`,
      )
    case 'disabled':
      return disabled?.why === 'gone'
        ? fail(
            `has answered 410: it wants no more, and is told nothing${waits}`,
            `Correct its url, then ${enable}; or take it out of the config.`,
          )
        : warn(`is disabled by an operator, and is told nothing${waits}`, enable)
    case 'waiting':
      return warn('its notifier has not begun', 'portage run --role ledger, with this config')
    case 'unknown':
      return warn(problem ?? 'its notifier does not answer', 'portage run --role ledger, with this config')
  }
}

/** Less than a check may take; Portage waits 15 s. */
const testTimeoutMs = checkTimeoutMs - 1_000

async function testFinding(receiver: Receiver): Promise<Finding> {
  const data = { by: 'portage doctor', reason: 'a test from this machine' }
  const id = `test_${randomUUID()}`
  const answer = await sendNotification(receiver, { id, type: 'notification.test', at: Date.now(), data }, { timeoutMs: testTimeoutMs })
  return answer.kind === 'taken' ? `has taken ${id}` : fail(`did not take ${id}: ${answer.why}`, testRemedy(answer))
}

function testRemedy(answer: Exclude<SendAnswer, { kind: 'taken' }>): string {
  if (answer.kind === 'gone') return 'Correct its url, or take it out of the config.'
  if (answer.kind === 'failed')
    return 'See whether the receiver runs, in its own log; start it, or mend what is between it and this machine.'
  if (answer.why.includes('redirect')) return 'Set its url to where the redirect leads.'
  if (/\b40[13]\b/.test(answer.why))
    return 'Give the receiver the secret that signs here, and set the clocks: a signature is good for five minutes.'
  return 'Correct the path in its url, or mend the receiver: its own log has the id.'
}
