import { drill } from '../lab/drill/main.ts'
import { parseOptions } from '../lab/drill/options.ts'

process.exitCode = await drill(parseOptions(process.argv.slice(2)))
