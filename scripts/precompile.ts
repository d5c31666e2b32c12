import { compiledFolder } from '../bin/compiled.js'
import { pageFolder } from '../bin/page.js'
import { silentLogger } from '../observability/logger.ts'
import { workflowBundle } from '../workers/process/bundle.ts'

/** Compiles for the first start. Every start compares the compiled files with their sources. */
await Promise.all([compiledFolder(), workflowBundle(silentLogger()), pageFolder()])
