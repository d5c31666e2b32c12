import { compiledFolder } from '../bin/compiled.js'
import { pageFolder } from '../bin/page.js'
import { silentLogger } from '../observability/logger.ts'
import { workflowBundle } from '../workers/process/bundle.ts'

/**
 * Compiles now, so that the first start does not have to. If sources change later, the next start compiles them again.
 */
await Promise.all([compiledFolder(), workflowBundle(silentLogger()), pageFolder()])
