import { demo } from '../lab/demo/main.ts'
import { parseOptions } from '../lab/demo/options.ts'

process.exitCode = await demo(parseOptions(process.argv.slice(2)))
