import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { orderNamed, orders } from '../../operations/orders/orders.ts'
import { runCli } from './run-cli.ts'

const commands = [
  [],
  ['run'],
  ['stuck'],
  ['shadow'],
  ['transfer'],
  ['transfer', 'submit'],
  ['transfer', 'show'],
  ['transfer', 'list'],
  ['transfer', 'watch'],
  ['transfer', 'retry'],
  ['transfer', 'cancel'],
  ['transfer', 'expedite'],
  ['lane'],
  ['lane', 'list'],
  ['lane', 'show'],
  ['lane', 'pause'],
  ['lane', 'resume'],
  ['lane', 'drain'],
  ['lane', 'forbid'],
  ['lane', 'activate'],
  ['lane', 'resync'],
  ['lane', 'fill'],
  ['lane', 'cancel-nonce'],
  ['lane', 'replace'],
  ['lane', 'republish'],
  ['lane', 'set-window'],
  ['lane', 'set-windows'],
  ['lane', 'reset'],
  ['lane', 'send'],
  ['lane', 'sweep'],
  ['lane', 'top-up'],
  ['lane', 'batches'],
  ['lane', 'transactions'],
  ['lane', 'cancel-transaction'],
  ['stream'],
  ['stream', 'list'],
  ['stream', 'show'],
  ['stream', 'backfill'],
  ['stream', 'audit'],
  ['stream', 'reread'],
  ['stream', 'skip'],
  ['stream', 'unskip'],
  ['stream', 'pause'],
  ['stream', 'resume'],
  ['stream', 'set-max-open'],
  ['stream', 'trust'],
  ['stream', 'checkpoint'],
  ['stream', 'checkpoint', 'show'],
  ['stream', 'checkpoint', 'write'],
  ['notifications'],
  ...['list', 'test', 'replay', 'disable', 'enable'].map((one) => ['notifications', one]),
  ['settings'],
  ['settings', 'export'],
  ['settings', 'import'],
  ['halt'],
  ['unhalt'],
  ['deny'],
  ['allow'],
  ['fees'],
  ['fees', 'show'],
  ['fees', 'set'],
  ['fees', 'clear'],
  ['tariff'],
  ['tariff', 'show'],
  ['tariff', 'asset'],
  ['tariff', 'fee'],
  ['tariff', 'route'],
  ['node'],
  ['node', 'list'],
  ['node', 'add'],
  ['node', 'remove'],
  ['node', 'enable'],
  ['node', 'disable'],
  ['audit'],
  ['audit', 'run'],
  ['audit', 'show'],
  ['plugin'],
  ['plugin', 'new'],
  ['plugin', 'add'],
  ['plugin', 'list'],
  ['plugin', 'test'],
  ['archive'],
  ['archive', 'run'],
  ['archive', 'show'],
  ['archive', 'verify'],
  ['init'],
  ['config', 'check'],
  ['config', 'schema'],
  ['doctor'],
  ['setup'],
  ['setup', 'temporal'],
  ['deploy'],
  ['deploy', 'status'],
  ['deploy', 'promote'],
  ['deploy', 'drained'],
  ['keystore', 'new'],
  ['keystore', 'import'],
  ['token'],
  ['token', 'create'],
  ['token', 'list'],
  ['token', 'revoke'],
  ['token', 'keys'],
  ['token', 'rotate-key'],
  ['token', 'remove-key'],
  ['codec-server'],
  ['completion'],
]

test('every order is a command, and all other commands read or change only this machine', () => {
  const names = commands.map((command) => command.join(' '))
  expect(Object.keys(orders).filter((name) => !names.includes(name))).toEqual([])
  const groups = names.filter((name) => names.some((other) => other.startsWith(`${name} `)) && name !== 'settings')
  const others = names.filter((name) => name !== '' && orderNamed(name) === undefined && !groups.includes(name))
  expect(others).toMatchInlineSnapshot(`
    [
      "run",
      "stuck",
      "shadow",
      "transfer show",
      "transfer list",
      "transfer watch",
      "lane list",
      "lane show",
      "lane batches",
      "lane transactions",
      "stream list",
      "stream show",
      "stream checkpoint show",
      "notifications list",
      "settings",
      "settings export",
      "fees show",
      "tariff show",
      "node list",
      "audit show",
      "plugin new",
      "plugin add",
      "plugin list",
      "plugin test",
      "archive run",
      "archive show",
      "archive verify",
      "init",
      "config check",
      "config schema",
      "doctor",
      "setup temporal",
      "deploy status",
      "deploy drained",
      "keystore new",
      "keystore import",
      "token list",
      "token keys",
      "codec-server",
      "completion",
    ]
  `)
})

describe('help', () => {
  test.each(commands.map((command) => [command.join(' '), command] as const))('of portage %s', async (_, command) => {
    const { code, out, err } = await runCli([...command, '--help'])
    expect(out).toMatchSnapshot()
    expect(err).toBe('')
    expect(code).toBe(0)
    // A terminal has at least 80 columns.
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([])
    // A group of commands has no examples of its own.
    if (!out.includes('Commands:')) expect(out).toContain('Example')
  })
})

const noReason = [
  ['transfer', 'retry', 'id'],
  ['transfer', 'expedite', 'id'],
  ['lane', 'resume', 'evm-1:0x0'],
  ['lane', 'activate', 'evm-1:0x0'],
  ['lane', 'resync', 'evm-1:0x0'],
  ['lane', 'fill', 'evm-1:0x0', '1'],
  ['lane', 'cancel-nonce', 'evm-1:0x0', '1'],
  ['lane', 'replace', 'evm-1:0x0', '1'],
  ['lane', 'republish', 'evm-1:0x0'],
  ['lane', 'set-window', 'evm-1:0x0', '1'],
  ['lane', 'reset', 'evm-1:0x0', '--chain-replaced'],
  ['stream', 'resume', 's'],
  ['stream', 'set-max-open', 's', '5'],
  ['stream', 'trust', 's', '--number', '5'],
  ['stream', 'reread', 's', '--block', '5'],
  ['stream', 'backfill', 's', '--from', '1', '--to', '2'],
]

describe('a wrong command line ends with 2, a reason on stderr and an empty stdout', () => {
  test.each([
    [['fly'], "unknown command 'fly'"],
    [['run'], "required option '--role <role>' not specified"],
    [['run', '--role', 'captain'], 'Allowed choices are all, keyless, chain, lane, ledger, intake, api'],
    [['transfer', 'submit'], 'give either a VAA, or --chain, --emitter and --sequence'],
    [['transfer', 'submit', 'AQ', '--chain', '2'], 'give either a VAA, or --chain, --emitter and --sequence'],
    [['transfer', 'submit', '--chain', '2', '--sequence', '1'], 'give either a VAA, or --chain, --emitter and --sequence'],
    [['transfer', 'submit', 'AQ', '--native', 'a:b:1'], 'give either a VAA, or --chain, --emitter and --sequence, or --native'],
    [['transfer', 'submit', '--native', 'a:b:1', '--chain', '2'], 'or --native'],
    [['transfer', 'submit', '--native', 'a:b:0'], '<source>:<target>:<nonce>'],
    [['transfer', 'list', '--state', 'lost'], 'Allowed choices are admitting'],
    [['transfer', 'list', '--limit', '0'], 'It must be a whole number from 1 to 10000'],
    [['transfer', 'retry', '--state', 'parked', '--limit', '1001', '--reason', 'x'], 'It must be a whole number from 1 to 1000'],
    [['transfer', 'list', '--tx', '0x12'], 'It must be a hash: 0x and 64 hex digits'],
    [['transfer', 'list', '--chain', "x' OR 1=1"], 'It must be lower case letters, digits and dashes'],
    ...noReason.map((argv): [string[], string] => [argv, "required option '--reason <text>' not specified"]),
    [['transfer', 'show'], "missing required argument 'id'"],
    [['lane', 'pause', 'evm-1:0x0'], "required option '--reason <text>' not specified"],
    [['halt', '--reason', 'x'], 'give either --all, or one or more of --bridge, --chain, --source and --target'],
    [['halt', '--all', '--chain', 'bsc', '--reason', 'x'], 'give either --all, or one or more of'],
    [['halt', '--all'], "required option '--reason <text>' not specified"],
    [['deny', 'sender', '0x0', '--reason', 'x'], 'Allowed choices are recipient, token'],
    [['fees', 'set', '--scope', 'bsc', '--reason', 'x'], 'It must be global, chain:<name>'],
    [['fees', 'set', '--scope', 'global', '--reason', 'x'], 'give at least one limit'],
    [['fees', 'set', '--scope', 'global', '--reason', 'x', '--max-tip', '0.5'], 'It must be an amount with a unit, like 0.05ETH'],
    [['fees', 'set', '--scope', 'global', '--reason', 'x', '--gas-factor', '0.5'], 'It must be a number from 1 to 5'],
    [
      ['node', 'add', 'bsc', 'spare', 'http://127.0.0.1:1', '--use', 'write', '--reason', 'x'],
      'Allowed choices are all, read, send, private',
    ],
    [['audit', 'run', '--hours', '0'], 'It must be a number of hours above 0'],
    [['archive', 'run', '--since', '2026-13-01'], 'It must be a day (UTC) or a time with its zone'],
    [['archive', 'run', '--since', '2026-02-31'], 'It must be a day (UTC) or a time with its zone'],
    [['archive', 'run', '--since', '2026-02-28T24:00Z'], 'It must be a day (UTC) or a time with its zone'],
    [['archive', 'run', '--since', '2026-02-28T12:60Z'], 'It must be a day (UTC) or a time with its zone'],
    [['archive', 'run', '--since', '9999-01-01'], 'It is in the future'],
    [['archive', 'verify', '2026-02-31'], 'It must be a day of the calendar'],
    [['archive', 'verify', '-q8'], 'It must be a day of the calendar'],
    [['archive', 'verify', '-q8', '--config', 'x'], 'It must be a day of the calendar'],
    [['archive', 'verify', '--q8'], "unknown option '--q8'"],
    [['archive', 'show', '-q8'], "unknown option '-q8'"],
    [['transfer', 'submit', 'AQ', '--deadline', '2030-02-31T12:00:00Z'], 'It is a time with its zone'],
    [['lane', 'reset', 'evm-1:0x0'], "required option '--chain-replaced' not specified"],
    [['lane', 'fill', 'evm-1:0x0', '1.5', '--reason', 'x'], 'It must be a whole number'],
    [['lane', 'replace', 'evm-1:0x0', '1', '--tip', '2 shannon'], 'It must be an amount with a unit, like 5gwei'],
    [['lane', 'send', 'evm-1:0x0', '--to', '0x1', '--reason', 'r'], 'It must be an address'],
    [['lane', 'top-up', 'evm-1:0x0', '--amount', '1'], "required option '--from <lane>' not specified"],
    [['lane', 'cancel-transaction', 'operator-transaction:x'], "required option '--reason <text>' not specified"],
    [['lane', 'transactions', 'evm-1:0x0', '--closed', 'all'], 'It must be a whole number below 1000'],
    [['stream', 'show'], "missing required argument 'stream'"],
    [['stream', 'skip', 's', '-1', '--reason', 'x'], 'It must be a whole number below 2^64'],
    [['stream', 'skip', 's', '18446744073709551616', '--reason', 'x'], 'It must be a whole number below 2^64'],
    [['stream', 'skip', 's', '7'], "required option '--reason <text>' not specified"],
    [['stream', 'pause', 's'], "required option '--reason <text>' not specified"],
    [['stream', 'set-max-open', 's', '361', '--reason', 'x'], 'It must be a whole number from 1 to 360'],
    [['stream', 'backfill', 's', '--from', '1'], "required option '--to <block>' not specified"],
    [['stream', 'backfill', 's', '--from', '0x10', '--to', '20'], 'It must be a whole number'],
    [['stream', 'reread', 's', '--block', '5', '--hash', '0x12'], 'It must be a hash: 0x and 64 hex digits'],
    [['transfer', 'cancel', 'id', '--reason', 'x', '--by', 'me'], "unknown option '--by'"],
    [['token', 'create', '--name', 'x'], "required option '--level <level>' not specified"],
    [['token', 'create', '--name', 'x', '--level', 'root'], 'Allowed choices are read, write, sign, admin'],
    [['token', 'create', '--name', 'x', '--level', 'read', '--expires', '2y'], 'It is a number with m, h or d'],
    [['deploy', 'promote', 'v2'], "required option '--reason <text>' not specified"],
    [['deploy', 'promote', 'v2', '--ramp', '101', '--reason', 'x'], 'It must be a whole number from 0 to 100'],
    [['setup', 'temporal', '--retention', '0'], 'It must be a whole number of hours'],
    [['doctor', '--fast'], "unknown option '--fast'"],
  ])('the wrong command line %j is refused', async (argv, why) => {
    const { code, out, err } = await runCli(argv)
    expect(err).toContain(why)
    expect(out).toBe('')
    expect(code).toBe(2)
  })

  test('with --json, an incomplete or invalid command prints its error as one JSON object', async () => {
    const { code, out, err } = await runCli(['stream', 'skip', 's', '-1', '--reason', 'x', '--json'])
    expect([code, JSON.parse(out)]).toMatchObject([2, { error: { code: 'INPUT_INVALID', message: expect.stringContaining('below 2^64') } }])
    expect(err).toContain('It must be a whole number below 2^64')
    for (const words of [['--json'], ['transfer', '--json']]) {
      const { code: status, out: object } = await runCli(words)
      expect([status, JSON.parse(object)]).toMatchObject([2, { error: { message: expect.stringContaining('a command is missing') } }])
    }
  })
})

const launcher = fileURLToPath(new URL('../../bin/portage.js', import.meta.url))
const run = promisify(execFile)

test('the version is the one of the package', async () => {
  const { code, out } = await runCli(['--version'])
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
  expect([code, out]).toEqual([0, `${version}\n`])
})

const slow = { timeout: 120_000 }

test('a closed pipe is no error', slow, async () => {
  // `true` closes the pipe before anything is written.
  const { stdout, stderr } = await run('bash', ['-c', '"$0" "$1" --help | true; echo "${PIPESTATUS[0]}"', process.execPath, launcher])
  expect([stdout, stderr]).toEqual(['0\n', ''])
})

test('the launcher runs from any folder', slow, async () => {
  const { stdout } = await run(process.execPath, [launcher, 'config', '--help'], { cwd: tmpdir() })
  expect(stdout).toContain('Usage: portage config')
  const failure = await run(process.execPath, [launcher, 'config', 'check', '--config', 'absent.yaml'], { cwd: tmpdir() }).catch(
    (error: unknown) => error,
  )
  expect(failure).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('CONFIG_INVALID: The config has problems.') })
})
