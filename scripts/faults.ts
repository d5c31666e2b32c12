import { faults } from '../devnet/faults/main.ts'
import { parseOptions } from '../devnet/faults/options.ts'

process.exitCode = await faults(parseOptions(process.argv.slice(2)))
