/** `{workflow id}/{round}`. A new round begins only when the last nonce was used up without the effect. */
export function intentIdOf(workflowId: string, round: number): string {
  return `${workflowId}/${round}`
}

export function workflowOf(intentId: string): string {
  const end = intentId.lastIndexOf('/')
  return end < 0 ? intentId : intentId.slice(0, end)
}

/** 0 if the id has no round. */
export function roundOf(intentId: string): number {
  return Number(/[/]([0-9]+)$/.exec(intentId)?.[1] ?? 0)
}
