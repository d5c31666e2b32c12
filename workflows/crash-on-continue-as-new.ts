import { proxySinks, type Sinks, type WorkflowInterceptors } from '@temporalio/workflow'

/** Kills the worker inside a workflow task. This file is bundled only with an armed failpoint. */
export interface CrashSinks extends Sinks {
  crash: { continueAsNew(): void }
}

const { crash } = proxySinks<CrashSinks>()

export const interceptors = (): WorkflowInterceptors => ({
  outbound: [
    {
      continueAsNew(input, next) {
        crash.continueAsNew()
        return next(input)
      },
    },
  ],
})
