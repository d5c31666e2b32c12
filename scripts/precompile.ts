import { compiledFolder } from '../bin/compiled.js'
import { silentLogger } from '../observability/logger.ts'
import { workflowBundle } from '../workers/bundle.ts'

/** Compiles the command line and the workflows into node_modules/.cache, where the first start finds them. Both are checked against their sources at each start. */
await Promise.all([compiledFolder(), workflowBundle(silentLogger())])
