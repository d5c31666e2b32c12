import { attack } from '../lab/attack/main.ts'
import { parseOptions } from '../lab/attack/options.ts'

process.exitCode = await attack(parseOptions(process.argv.slice(2)))
