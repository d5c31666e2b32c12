import { execFileSync, spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { runCli } from './run-cli.ts'

const has = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0
const scriptFor = async (shell: string) => (await runCli(['completion', shell])).out

/** What a shell offers after these words, the last of which is being typed, by its own completion. */
const shells = {
  bash: (script: string, words: readonly string[]) =>
    execFileSync('bash', [
      '--norc',
      '-c',
      `${script}\nCOMP_WORDS=("$@") COMP_CWORD=$(($# - 1))\n_portage\nprintf '%s\\n' "\${COMPREPLY[@]}"`,
      'bash',
      ...words,
    ]),
  fish: (script: string, words: readonly string[]) =>
    execFileSync('fish', ['--no-config', '-c', `${script}\ncomplete -C '${words.join(' ')}'`]),
} as const

type Shell = keyof typeof shells

async function offers(shell: Shell, ...words: string[]): Promise<string[]> {
  const answer = shells[shell](await scriptFor(shell), ['portage', ...words]).toString()
  return answer.split('\n').flatMap((line) => line.split('\t')[0] || [])
}

for (const shell of Object.keys(shells) as Shell[]) {
  test.runIf(has(shell))(`${shell} completes commands, options, and what options and arguments may be`, async () => {
    expect(await offers(shell, 'trans')).toEqual(['transfer'])
    expect(await offers(shell, 'transfer', '')).toEqual(
      expect.arrayContaining(['submit', 'show', 'list', 'watch', 'retry', 'cancel', 'expedite']),
    )
    expect(await offers(shell, '--config', 'transfer', 'stream', 'check')).toEqual(['checkpoint'])
    expect(await offers(shell, 'transfer', 'list', '--sta')).toEqual(['--state'])
    expect(await offers(shell, 'transfer', 'list', '--wi')).toEqual(['--wide'])
    expect(await offers(shell, 'transfer', 'list', '--state', 'par')).toEqual(['parked'])
    expect(await offers(shell, 'transfer', 'list', '--state', 'parked', '--js')).toEqual(['--json'])
    expect(await offers(shell, 'deny', 're')).toEqual(['recipient'])
    expect(await offers(shell, '--config', 'packa')).toContain('package.json')
  })
}

test.runIf(has('bash'))('bash runs nothing of what is being typed, and loads the script twice', async () => {
  const script = await scriptFor('bash')
  const words = ['portage', 'transfer', 'show', '$(echo hidden >&2)', '`echo hidden >&2`', '']
  const { stderr, stdout } = spawnSync('bash', [
    '--norc',
    '-c',
    `${script}\n${script}\nCOMP_WORDS=("$@") COMP_CWORD=$(($# - 1))\n_portage\necho "\${#COMPREPLY[@]}"`,
    'bash',
    ...words,
  ])
  expect([stdout.toString(), stderr.toString()]).toEqual(['0\n', ''])
})

test.runIf(has('zsh'))('zsh takes the script', async () => {
  const script = await scriptFor('zsh')
  const { stdout, stderr } = spawnSync('zsh', ['-f', '-c', `${script}\necho $_comps[portage]`])
  expect([stdout.toString().trim(), stderr.toString()]).toEqual(['_bash_complete -F _portage', ''])
})
