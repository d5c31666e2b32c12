import { parseOptions, runFuzz } from '../lab/fuzz/main.ts'

process.exitCode = await runFuzz(parseOptions(process.argv.slice(2)))
