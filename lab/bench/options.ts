import { Command, InvalidArgumentError, Option } from 'commander'
import { type Form, forms } from './form.ts'

const help = `
Measures how many transfers per second Portage delivers with 4 keys if the transfers already wait in Temporal. Compares
this rate with the rates of empty workflows and of workflows with one empty activity, in the same number and on the same
Temporal server (SQLite in a file). Prints for each kind the rate from readiness to the last close, the sustained rate
(between the 10th and the 90th percentile of the closes), and the CPU time of each process and of each kind of thread of
the worker. Compare only ratios within one run, never rates of different runs or machines. CPU times need Linux.
docs/develop/performance.md has the results.

With --floor: measures empty and one-activity workflows on several Temporal servers: the CLI's dev server with its
database in a file and in memory, and the production server on SQLite and, if PostgreSQL's programs are found, on
PostgreSQL with synchronous_commit on and off.

With --outage <n>: initiates n transfers of the native bridge, half in each direction, while Portage is down. Then Portage
starts, finds the transfers and delivers them. Prints time, RPC calls, state transitions and memory.

With --start: measures the time and the CPU time until \`portage run\` is ready, and the time until the first transfer of
\`npm run demo\` is sent, seen and delivered.

With --growth: measures transfers that all reach Portage at the same time, for several numbers of transfers, each on a
network of its own. Prints CPU time, RPC calls and state transitions per transfer, without those of an idle process, and
memory.

With --latency: sends transfers over both bridges, in both directions, at a steady rate. Prints the time from the finality
of a transfer's block to its inclusion on the target, the time from the finality of that block to the close of the
transfer, and the duration of each step as Portage's own metrics show it.

With --scale: measures how much more several processes with the role chain deliver than one of them. Each may use only a
share of a core (Linux control groups), and all others share the rest of the machine. Prints the rate, the share of time in
which the limit held the processes back, and the cores that each part used.

With --idle: measures an idle process with all roles, first without and then with the streams of all mainnet token bridges
that Wormhole's SDK lists: CPU, calls to Temporal, requests to guardians, RPC calls. --seconds is the duration of the
second part; 120 seconds contain one audit of each stream.

With --peers: measures Portage alternately with relayer-engine (from npm, with Redis; as its documentation shows, and
tuned) and with a sender without state. Each run has its own network, where the spy sends all messages at the same time.
Prints the deliveries per second, the CPU time of the relayer, and the number of transfers that each relayer loses if it
is killed with SIGKILL after a quarter of the deliveries and started again. Missing programs are installed into the cache,
and Redis with apt-get. Use at least 800 transfers, because two blocks hold fewer.

Exit code: 0 if Portage's run was clean; 1 if transfers were lost or delivered twice; 2 for wrong usage; 3 if a program
for --peers is missing, with NOT RUN: and the name of the program on stderr.

Examples:
  npm run bench -- --quick
  npm run bench -- --json > figures.json
  npm run bench -- --chart docs/develop/performance.svg
  npm run bench -- --floor --transfers 1000
  npm run bench -- --start --rounds 5
  npm run bench -- --outage 5000 --json
  npm run bench -- --outage 5000 --batch 20
  npm run bench -- --growth --in-flight 10,100,1000
  npm run bench -- --latency --nodes 3
  npm run bench -- --scale --processes 1,2,4 --percent 10 --transfers 300
  npm run bench -- --idle --seconds 120 --json
  npm run bench -- --peers --quick --json`

export interface BenchOptions {
  readonly transfers: number
  readonly keys: number
  readonly rounds: number
  readonly form: Form
  readonly json: boolean
  readonly chart?: string
  readonly floor: boolean
  readonly start: boolean
  readonly outage?: number
  readonly batch?: number
  readonly maxOpen: number
  readonly growth: boolean
  readonly inFlight: readonly number[]
  readonly latency: boolean
  readonly idle: boolean
  readonly peers: boolean
  readonly scale: boolean
  readonly processes: readonly number[]
  readonly percent: number
  readonly rate: number
  readonly seconds: number
  readonly nodes: number
}

/** `--quick` sends only as many transfers as a meaningful rate needs. */
const [many, few, rounds] = [2_000, 800, 3] as const

export function readOptions(args: readonly string[]): BenchOptions {
  const parsed = new Command('bench')
    .option('--quick', `${few} transfers, one round`, false)
    .option('--transfers <n>', `transfers per round, and workflows per round of each other kind (default: ${many})`, wholeNumber)
    .option('--keys <k>', 'number of keys of the target chain', wholeNumber, 4)
    .option('--rounds <n>', `number of rounds; the minimum, median and maximum are printed (default: ${rounds})`, wholeNumber)
    .addOption(new Option('--form <form>', 'where `broadcast` runs').choices(forms).default('queue'))
    .option('--floor', 'compare Temporal servers, and measure nothing else', false)
    .option('--start', 'measure starts, and nothing else', false)
    .option('--outage <n>', 'measure this number of native transfers that wait when Portage starts, and nothing else', wholeNumber)
    .option('--batch <n>', 'with --outage: maximum number of completions in one transaction (default: 1)', wholeNumber)
    .option('--max-open <n>', 'with --outage: maximum number of open transfers per direction', wholeNumber, 360)
    .option('--growth', 'measure the cost per transfer by the number in flight, and nothing else', false)
    .option('--in-flight <list>', 'with --growth: numbers of transfers, separated by commas', wholeNumbers, [10, 100, 1_000, 10_000])
    .option('--latency', 'measure the latency of transfers at a steady rate, and nothing else', false)
    .option('--rate <n>', 'with --latency: transfers per second', wholeNumber, 2)
    .option('--seconds <n>', 'with --latency, --idle: duration, seconds', wholeNumber, 60)
    .option('--idle', 'measure an idle process, and nothing else', false)
    .option('--peers', 'compare Portage with relayer-engine and a raw sender, and measure nothing else', false)
    .option('--scale', 'measure several processes with a limit of CPU time, and nothing else', false)
    .option('--processes <list>', 'with --scale: numbers of processes, separated by commas', wholeNumbers, [1, 2, 4])
    .option('--percent <n>', 'with --scale: percent of a core for each process', wholeNumber, 10)
    .option(
      '--nodes <n>',
      'with --latency: nodes per chain; a single node must give each final answer twice, a block apart',
      wholeNumber,
      3,
    )
    .option('--chart <file>', 'write an SVG chart of the closes per second')
    .option('--json', 'print one JSON object on stdout', false)
    .addHelpText('after', help)
    .parse(args, { from: 'user' })
    .opts<Omit<BenchOptions, 'transfers' | 'rounds'> & { quick: boolean; transfers?: number; rounds?: number }>()
  const { quick, ...rest } = parsed
  return { ...rest, transfers: parsed.transfers ?? (quick ? few : many), rounds: parsed.rounds ?? (quick ? 1 : rounds) }
}

function wholeNumbers(text: string): number[] {
  return text.split(',').map(wholeNumber)
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number above 0.')
  return Number(text)
}
