import { compiledFolder } from '../bin/compiled.js'
import { pageFolder } from '../bin/page.js'
import { silentLogger } from '../observability/logger.ts'
import { workflowBundle } from '../workers/process/bundle.ts'

/**
 * Compile the command line, the workflows and the page into node_modules/.cache, where the first start finds them. Each
 * start compares them with their sources.
 */
await Promise.all([compiledFolder(), workflowBundle(silentLogger()), pageFolder()])
