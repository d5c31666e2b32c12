import { spawnSync } from 'node:child_process'
import { findTemporalCli } from '../lab/devnet/temporal/temporal-cli.ts'

// Runs the devnet's Temporal CLI with the given arguments: `npx tsx scripts/temporal-cli.ts workflow list`.
const { path } = await findTemporalCli({ log: () => {} })
process.exitCode = spawnSync(path, process.argv.slice(2), { stdio: 'inherit' }).status ?? 1
