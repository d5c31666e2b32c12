import { spawnSync } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { aptInstall } from '../apt.ts'

export const completedShells = ['bash', 'zsh', 'fish'] as const

export function hasShell(name: (typeof completedShells)[number]): boolean {
  return spawnSync(name, ['-c', 'true']).status === 0
}

/** Installs Debian's packages of missing shells if this process is root. Never throws. */
async function findShells(): Promise<void> {
  const missing = () => completedShells.filter((name) => !hasShell(name))
  if (missing().length > 0) {
    say(`set-up: ${missing().join(' and ')} missing; as root, apt-get installs them for the tests of completion (20 MB, once)`)
    const why = await aptInstall(...missing())
    for (const name of missing())
      say(`NOT RUN: test/cli/completion.test.ts with ${name} (${why ?? 'apt-get has installed something else'})`)
  }
  const found = completedShells.filter(hasShell)
  say(`set-up: the shells whose completion is tested are ${found.join(', ')}`)
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await findShells()
