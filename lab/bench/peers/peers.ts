import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Machine, machineOf } from '../machine.ts'
import { isClean, tellVerdict } from '../verdict.ts'
import { type Contender, portage, rawSender, relayerEngine } from './contenders.ts'
import { type KillRun, killRun, type PeerOptions, type PeerRun, peerRun } from './peer-run.ts'
import { findEngine, findRedis } from './programs.ts'

export interface PeersOptions extends PeerOptions {
  readonly rounds: number
}

export interface PeerFigures {
  readonly name: string
  readonly runs: readonly PeerRun[]
  readonly kills: readonly KillRun[]
}

export interface PeersResult extends PeersOptions {
  readonly peers: readonly PeerFigures[]
  readonly machine: Machine
}

/** Runs all contenders in turns, each run on a devnet of its own. `why` names a missing program. */
export async function peers(options: PeersOptions, say: (line: string) => void): Promise<PeersResult | { readonly why: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'portage-peers-'))
  try {
    say('Looking for Redis and relayer-engine, and installing what is missing …')
    const [redis, engine] = [await findRedis(folder), await findEngine()]
    if ('why' in redis) return redis
    if ('why' in engine) return engine
    const programs = { folder: engine.path, redis: redis.path }
    const tuned = relayerEngine('tuned', programs)
    return await inTurns([portage(), tuned, rawSender(), relayerEngine('documented', programs)], options, say)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function inTurns(contenders: readonly Contender[], options: PeersOptions, say: (line: string) => void): Promise<PeersResult> {
  const all = contenders.map(({ name }) => ({ name, runs: [] as PeerRun[], kills: [] as KillRun[] }))
  const load: number[] = []
  for (let number = 1; number <= options.rounds; number++)
    for (const [index, contender] of contenders.entries()) {
      load.push(loadavg()[0] ?? 0)
      const run = await peerRun(contender, options, () => {})
      const { relayer, store } = run.cpuMs
      say(
        `round ${number}, ${contender.name}: ${run.perSecond}/s, sustained ${run.sustainedPerSecond ?? '-'}, CPU ${relayer} + ${store} ms`,
      )
      say(`  ${tellVerdict(run)}`)
      const kill = await killRun(contender, options, () => {})
      say(
        `round ${number}, ${contender.name}, killed after ${kill.deliveredBefore}, last after ${kill.seconds ?? '-'} s: ${tellVerdict(kill)}`,
      )
      all[index]?.runs.push(run)
      all[index]?.kills.push(kill)
    }
  return { ...options, peers: all, machine: machineOf(load) }
}

/** Whether Portage lost nothing and delivered nothing twice. The losses of others are figures, not failures. */
export function portageIsClean({ peers }: PeersResult): boolean {
  return peers.filter(({ name }) => name === portage().name).every(({ runs, kills }) => [...runs, ...kills].every(isClean))
}
