import { failpoint, failpointArmed } from '../observability/failpoints.ts'
import type { Logger } from '../observability/logger.ts'
import type { CrashSinks } from '../workflows/crash-on-continue-as-new.ts'
import type { InjectedSinks, WorkflowBundleWithSourceMap } from '@temporalio/worker'
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker'
import { fileURLToPath } from 'node:url'

const path = (file: string) => fileURLToPath(new URL(`../workflows/${file}`, import.meta.url))

let bundle: Promise<WorkflowBundleWithSourceMap> | undefined

/** The workflows' code, bundled once per process. */
export function workflowBundle(logger: Logger): Promise<WorkflowBundleWithSourceMap> {
  bundle ??= bundleWorkflowCode({
    workflowsPath: path('index.ts'),
    logger: new DefaultLogger('WARN', ({ message }) => logger.warn(message)),
    workflowInterceptorModules: failpointArmed('lane-continue-as-new') ? [path('crash-on-continue-as-new.ts')] : [],
  })
  return bundle
}

/** Sinks run after the workflow code of a task and before the server hears of it: in the middle. */
export const crashSinks: InjectedSinks<CrashSinks> = {
  crash: { continueAsNew: { fn: () => failpoint('lane-continue-as-new'), callDuringReplay: false } },
}
