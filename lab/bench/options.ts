import { Command, InvalidArgumentError, Option } from 'commander'
import { type Form, forms } from './form.ts'

const help = `
Measures the transfers per second that Portage delivers over 4 keys when they wait in Temporal, and in turn empty
workflows and workflows with one empty activity, all on one Temporal server (SQLite in a file). Each kind has the same
number. For each: the rate from readiness to the last close, the sustained rate (from the 10th to the 90th percentile of
closes), and the CPU time of each process and, of the worker, of each kind of thread. Compare ratios within one run,
never rates of different runs or machines. CPU times need Linux. docs/develop/performance.md has the results.

With --floor: the cost of empty and one-activity workflows on each Temporal server. The CLI's dev server with its
database in a file and in memory, the server of production on SQLite and, where PostgreSQL's programs are found, on that
with synchronous_commit on and off.

With --outage <n>: n transfers of the native bridge, half in each direction, are initiated while Portage is down. Then it
starts, finds them and delivers them. Prints time, RPC calls, state transitions and memory.

With --start: how long \`portage run\` takes until it is ready, with its CPU time, and \`npm run demo\` until its first
transfer is sent, seen and delivered.

With --growth: transfers that reach Portage at once, by sizes, each on a network of its own. Prints CPU, RPC calls and
state transitions per transfer, without the use of an idle process, and memory.

With --latency: transfers over both bridges, both ways, at a steady rate. Prints how long after the finality of its block
each was in a block of its target, how long after the finality of that block it was delivered, and the time of each step
by Portage's own metrics.

With --idle: the use of an idle process of all roles, without and with the streams of all token bridges that Wormhole's
SDK knows on the mainnet: CPU, calls to Temporal, requests to guardians, RPC calls. --seconds is the time of the second;
120 have the audit of each stream once.

With --peers: Portage in turns with relayer-engine (from npm, with Redis; as its documents show, and tuned) and with a
sender that keeps no state. Each run has a network of its own, where all messages come at once through the spy. Prints
the deliveries per second and the relayer's own CPU time, and what each loses when SIGKILL ends it after a quarter of
the deliveries and it starts again. Programs that are missing are installed into the cache, and Redis by apt-get. Use at
least 800 transfers, because two blocks hold fewer.

Exit code: 0 if the run of Portage was clean; 1 if transfers were lost or delivered twice; 2 for bad usage; 3 if a
program for --peers is missing, with NOT RUN: and its name on stderr.

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
  readonly rate: number
  readonly seconds: number
  readonly nodes: number
}

/** `--quick` sends only as many transfers as a meaningful rate needs. */
const [many, few, rounds] = [2_000, 800, 3] as const

export function readOptions(args: readonly string[]): BenchOptions {
  const parsed = new Command('bench')
    .option('--quick', `${few} transfers, one round`, false)
    .option('--transfers <n>', `transfers, and workflows of each other kind, per round (default: ${many})`, wholeNumber)
    .option('--keys <k>', 'keys of the target chain', wholeNumber, 4)
    .option('--rounds <n>', `rounds; least, middle and most are printed (default: ${rounds})`, wholeNumber)
    .addOption(new Option('--form <form>', 'where `broadcast` runs').choices(forms).default('queue'))
    .option('--floor', 'compare Temporal servers; instead of all else', false)
    .option('--start', 'measure starts; instead of all else', false)
    .option('--outage <n>', 'native transfers that wait when Portage starts; instead of all else', wholeNumber)
    .option('--batch <n>', 'with --outage: most completions in one transaction (default: each has its own)', wholeNumber)
    .option('--max-open <n>', 'with --outage: most open transfers per direction', wholeNumber, 360)
    .option('--growth', 'costs per transfer by how many are in flight; instead of all else', false)
    .option('--in-flight <list>', 'with --growth: how many', wholeNumbers, [10, 100, 1_000, 10_000])
    .option('--latency', 'times of transfers at a steady rate; instead of all else', false)
    .option('--rate <n>', 'with --latency: transfers per second', wholeNumber, 2)
    .option('--seconds <n>', 'with --latency, --idle: for how long', wholeNumber, 60)
    .option('--idle', 'measure only the use of an idle process', false)
    .option('--peers', 'compare with relayer-engine and a raw sender; instead of all else', false)
    .option(
      '--nodes <n>',
      'with --latency: nodes per chain; of one, an answer that ends something is asked for twice, a block apart',
      wholeNumber,
      3,
    )
    .option('--chart <file>', 'write a picture of the closes per second (SVG)')
    .option('--json', 'one JSON object on stdout', false)
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
