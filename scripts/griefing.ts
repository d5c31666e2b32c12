/**
 * Prints what a day of each griefing attack costs the operator and the attacker under Portage's own limits: `npx tsx
 * scripts/griefing.ts`. The attacker never runs out of transfers that Portage could deliver. The class `Losses` decides
 * which calls Portage sends.
 */
import { fileURLToPath } from 'node:url'
import { budgetsPerChain, Losses } from '../activities/checks/losses.ts'
import type { Parties } from '../bridges/port.ts'
import { configSchema } from '../config/schema/schema.ts'
import { markdownTable, wrapped } from './docs/markdown.ts'

const minuteMs = 60_000
const minutesPerDay = 24 * 60
/** Gas of one transaction, and prices in wei per gas. */
const gas = { send: 120_000n, deliver: 200_000n, outrun: 90_000n } as const
const prices = { source: 1_000_000_000n, target: 10_000_000_000n } as const
/** Number of Portage's calls that are pending at the same time: a lane's window. */
const pendingCalls = 16
const { transfers } = configSchema.parse({ chains: {}, bridges: {} })
const budget = BigInt(transfers.maxLossPerTokenPerHourWei)

interface Attack {
  readonly name: string
  /** Parties of the attacker's transfer with this index. */
  readonly target: (index: number) => Pick<Parties, 'recipient' | 'token'>
  readonly isContract?: boolean
  /** Whether the token unwraps to coins. Honest transfers of such a token never wait. */
  readonly unwraps?: boolean
  readonly isOwnToken?: boolean
  /** Whether the attacker delivers the transfer before Portage does. */
  readonly outruns?: boolean
  /** wei that each transfer costs the attacker. */
  readonly price: bigint
}

const fresh = (token: string) => (index: number) => ({ recipient: `r${index}`, token })
const send = gas.send * prices.source

export const attacks: readonly Attack[] = [
  {
    name: 'a token that unwraps, sent to fresh contracts that revert',
    target: fresh('weth'),
    isContract: true,
    unwraps: true,
    price: send,
  },
  { name: 'a token with hooks, sent to fresh contracts that revert', target: fresh('hooks'), isContract: true, price: send },
  { name: 'one recipient, whose deliveries revert', target: () => ({ recipient: 'r', token: 'hooks' }), isContract: true, price: send },
  { name: "the attacker's own token, whose deliveries revert", target: fresh('junk'), isOwnToken: true, price: send },
  {
    name: "100 of the attacker's own tokens, whose deliveries revert",
    isOwnToken: true,
    target: (index) => ({ recipient: `r${index}`, token: `junk${index % 100}` }),
    price: send,
  },
  { name: 'the attacker delivers each transfer first', target: fresh('usdc'), outruns: true, price: send + gas.deliver * prices.target },
]

/**
 * Simulates a day of an attack. Each minute, Portage sends up to `pendingCalls` calls. The losses of these calls count
 * only after all calls of the minute are sent. `waits`: minutes in which an honest transfer of the token has to wait.
 */
export function dayOf({ target, isContract = false, unwraps, outruns, price }: Attack) {
  const losses = new Losses(transfers.quarantineSeconds * 1_000, budget)
  const parties = (given: Pick<Parties, 'recipient' | 'token'>): Parties => ({ bridge: 'b', targetChain: 'target', ...given })
  const lost = (outruns ? gas.outrun : gas.deliver) * prices.target
  const waits = { accounts: 0, contracts: 0 }
  let sent = 0
  for (let minute = 0; minute < minutesPerDay; minute++) {
    const now = minute * minuteMs
    const mayTry = (given: Parties) => !losses.quarantineOf(given, { isContract }, now)
    const calls = Array.from({ length: pendingCalls }, (_, index) => parties(target(sent + index))).filter(mayTry)
    for (const [index, call] of calls.entries()) {
      const loss = { txHash: `${sent + index}`, paid: lost, now }
      if (outruns) losses.addOutrun(call, loss)
      else losses.add(call, loss, isContract)
    }
    sent += calls.length
    for (const [who, isHonestContract] of [
      ['accounts', false],
      ['contracts', true],
    ] as const) {
      const honest = parties({ recipient: 'honest', token: target(0).token })
      if (!unwraps && losses.quarantineOf(honest, { isContract: isHonestContract }, now)) waits[who] += 1
    }
  }
  return { attacker: BigInt(sent) * price, operator: BigInt(sent) * lost, waits }
}

/** Maximum loss of the lanes of a target chain in a day, wei, by attacks that make calls revert but deliver nothing. */
export function mostLostPerDay(): bigint {
  return 24n * (budgetsPerChain * budget + BigInt(pendingCalls) * gas.deliver * prices.target)
}

/** The table of docs/concepts/threat-model.md, with the numbers behind it. */
export function describeGriefing(): string {
  const rows = attacks.map((attack) => {
    const { attacker, operator, waits } = dayOf(attack)
    const minutes = (waiting: number) =>
      waiting === 0 ? 'never' : `${(waiting / 60).toFixed(1)} h${attack.isOwnToken ? ', own tokens only' : ''}`
    return [attack.name, coins(attacker), coins(operator), minutes(waits.accounts), minutes(waits.contracts)]
  })
  const count = BigInt(pendingCalls * minutesPerDay)
  const dust = (how: string, lost: bigint) => [`dust over a native bridge, ${how}`, coins(count * send), coins(lost), 'never', 'never']
  const headings = [
    'attack, for a day',
    'the attacker pays',
    'Portage loses',
    'wait of honest recipients without code',
    'wait of honest contracts',
  ]
  const table = markdownTable(headings, [
    ...rows,
    dust('without `minimumAmount`', count * gas.deliver * prices.target),
    dust('below `minimumAmount`', 0n),
    dust('parked outside the window of the stream', 0n),
  ])
  const text = `Amounts are in coins. The computation proceeds in steps of a minute, and assumes up to ${pendingCalls} pending calls and the default limits. The last two columns show how long honest transfers of the same token wait. A transfer costs the attacker ${gas.send} gas at ${prices.source / gwei} gwei. Gas of the target costs ${prices.target / gwei} gwei. A delivery takes ${gas.deliver} gas. If another account delivered first, the call takes ${gas.outrun} gas. On each chain, reverts cost each process at most ${coins(mostLostPerDay())} a day. This sum contains, for each hour, the budgets of ${budgetsPerChain} tokens and the cost of one window of calls that were already pending. The sum leaves out the budget of reverted batches that each token has. The limits of the key (\`maxSpendingPerDayWei\`) end every loss.`
  return `${table}\n\n${wrapped(text)}`
}

const gwei = 1_000_000_000n
const coins = (wei: bigint) => (Number(wei) / 1e18).toFixed(2)

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(describeGriefing())
