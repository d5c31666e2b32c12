import { faults } from '../lab/faults/main.ts'
import { parseOptions } from '../lab/faults/options.ts'

process.exitCode = await faults(parseOptions(process.argv.slice(2)))
