import type { Service } from './runtime.ts'
export function startIntake(_: unknown): Service {
  return { stop: async () => {} }
}
