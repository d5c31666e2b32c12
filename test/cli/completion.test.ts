import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { completedShells, hasShell } from '../../lab/shells/find-shells.ts'
import { runCli } from './run-cli.ts'
import { temporaryFolder } from '../helpers/folders.ts'

type Shell = (typeof completedShells)[number]
type Line = readonly string[]

/** A shell whose prompt never comes would block this process and the whole run. */
const ended = { timeout: 120_000, killSignal: 'SIGKILL' } as const

const scriptFor = async (shell: Shell) => (await runCli(['completion', shell])).out

/** The completions of each line, by shell. The last word of a line is incomplete. */
const offers: Readonly<Record<Shell, (script: string, lines: readonly Line[]) => string[][]>> = {
  bash: (script, lines) =>
    lines.map((words) => {
      const press = `COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))\n_portage\nprintf '%s\\n' "\${COMPREPLY[@]}"`
      return shown(execFileSync('bash', ['--norc', '-c', `${script}\n${press}`, 'bash', 'portage', ...words], ended))
    }),
  zsh: (script, lines) =>
    inFolder((folder) => {
      const [scriptFile, linesFile] = [join(folder, 'script'), join(folder, 'lines')]
      writeFileSync(scriptFile, script)
      // A dot ends each line, so that a space at the end of the line is not lost. offers.zsh removes the dot.
      writeFileSync(linesFile, lines.map((words) => `portage ${words.join(' ')}.\n`).join(''))
      const driver = fileURLToPath(new URL('./offers.zsh', import.meta.url))
      const env = { ...process.env, HOME: folder, ZDOTDIR: folder, TMPDIR: folder, TERM: 'xterm', COLUMNS: '1000' }
      const answers = execFileSync('zsh', ['-f', driver, scriptFile, linesFile], { ...ended, env })
        .toString()
        .trimEnd()
        .split('\n')
      expect(answers).toHaveLength(lines.length)
      return lines.map((words, index) => {
        const typed = ['portage', ...words.slice(0, -1), ''].join(' ')
        expect(answers[index]?.startsWith(typed)).toBe(true)
        const last = (answers[index] ?? '').slice(typed.length).trim()
        return last === words.at(-1) ? [] : last.split(' ')
      })
    }),
  fish: (script, lines) =>
    inFolder((HOME) => {
      writeFileSync(join(HOME, 'script'), script)
      return lines.map((words) => {
        const env = { ...process.env, HOME, TYPED: ['portage', ...words].join(' ') }
        return shown(execFileSync('fish', ['--no-config', '-c', 'source ~/script; complete -C "$TYPED"'], { ...ended, env }))
      })
    }),
}

function shown(output: Buffer): string[] {
  return output
    .toString()
    .split('\n')
    .flatMap((line) => line.split('\t')[0] || [])
}

function inFolder<Result>(use: (folder: string) => Result): Result {
  return use(temporaryFolder())
}

const cases: readonly (readonly [Line, readonly string[]])[] = [
  [['trans'], ['transfer']],
  [['--config', 'transfer', 'stream', 'check'], ['checkpoint']],
  [['--config=transfer', 'stream', 'check'], ['checkpoint']],
  [['transfer', 'list', '--stat'], ['--state']],
  [['transfer', 'list', '--wi'], ['--wide']],
  [['transfer', 'list', '--state', 'par'], ['parked']],
  [['transfer', 'list', '--state', 'parked', '--js'], ['--json']],
  [['deny', 're'], ['recipient']],
  [['transfer', 'show', 'sub'], []],
]
const among: readonly (readonly [Line, readonly string[]])[] = [
  [
    ['transfer', ''],
    ['submit', 'show', 'list', 'watch', 'retry', 'cancel', 'expedite'],
  ],
  [
    ['transfer', 'list', '--state', ''],
    ['admitting', 'parked', 'delivered'],
  ],
  [['--config', 'packa'], ['package.json']],
]

for (const shell of completedShells) {
  test.runIf(hasShell(shell))(`${shell} completes commands, options, and what options and arguments may be`, async () => {
    const lines = [...cases, ...among].map(([words]) => words)
    const found = offers[shell](await scriptFor(shell), lines)
    expect(found.slice(0, cases.length)).toEqual(cases.map(([, wanted]) => wanted))
    expect(found.slice(cases.length)).toEqual(among.map(([, wanted]) => expect.arrayContaining([...wanted])))
  })
}

test.runIf(hasShell('fish'))('fish says what a command is for', async () => {
  const script = await scriptFor('fish')
  const answer = inFolder((HOME) =>
    execFileSync('fish', ['--no-config', '-c', `${script}\ncomplete -C 'portage transfer exp'`], {
      ...ended,
      env: { ...process.env, HOME },
    }),
  )
  expect(answer.toString()).toMatch(/^expedite\tRaise the fee /)
})

const hostile = ['$(echo hidden >&2)', '`echo hidden >&2`', ']', '*', '(e:echo hidden:)']

test.runIf(hasShell('bash'))('bash does not run the text that is being typed, and can load the script twice', async () => {
  const script = await scriptFor('bash')
  const words = ['portage', 'transfer', 'show', ...hostile, '']
  const press = `COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))\n_portage\necho "\${#COMPREPLY[@]}"`
  const { stderr, stdout } = spawnSync('bash', ['--norc', '-c', `${script}\n${script}\n${press}`, 'bash', ...words], ended)
  expect([stdout.toString(), stderr.toString()]).toEqual(['0\n', ''])
})

for (const shell of ['zsh', 'fish'] as const) {
  test.runIf(hasShell(shell))(`${shell} runs nothing of what is being typed, and loads the script twice`, async () => {
    const script = await scriptFor(shell)
    const mark = join(tmpdir(), `portage-completion-ran-${process.pid}-${shell}`)
    const words = [`$(touch ${mark})`, `(touch\\ ${mark})`, `"$(touch ${mark})"`, ']', `'a b'`]
    const lines = words.map((word) => ['transfer', 'list', word, '--stat'])
    expect(offers[shell](`${script}\n${script}`, lines)).toEqual(lines.map(() => ['--state']))
    expect(existsSync(mark)).toBe(false)
  })
}
