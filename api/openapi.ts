import type { SwaggerTransform, SwaggerTransformObject } from '@fastify/swagger'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'

/** Adds an `operationId`. The wildcard of spy_relayer's route gets the name `vaa`, because OpenAPI has no wildcards. */
export const describeRoute: SwaggerTransform = (document) => {
  const { schema, url } = jsonSchemaTransform(document)
  if (schema?.hide) return { schema, url }
  const params: unknown = schema?.params && JSON.parse(JSON.stringify(schema.params).replaceAll('"*"', '"vaa"'))
  const operationId = operationIdOf(String(document.route.method), url)
  return { schema: { ...schema, ...(params !== undefined && { params }), operationId }, url: url.replace('*', ':vaa') }
}

/** Returns the name of a route's function in generated clients: `getTransfers`, `transferRetry`, `laneCancelNonce`. */
export function operationIdOf(method: string, path: string): string {
  const parts = path.split('/').filter((part) => !/^(v[01])?$/.test(part))
  const words = parts.flatMap((part, index) => {
    if (/[:{*]/.test(part)) return []
    return (/^[:{]/.test(parts[index + 1] ?? '') ? part.replace(/s$/, '') : part).split('-')
  })
  if (words.length === 0) words.push('routes')
  const isBare = method === 'POST' && parts.length === 1
  return [...(method === 'GET' || isBare ? [method.toLowerCase()] : []), ...words]
    .map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('')
}

/** Moves schemas that have an id to the components, and drops components that no route refers to. */
export const withComponents: SwaggerTransformObject = (document) => {
  const whole = jsonSchemaTransformObject(document)
  if (!('components' in whole)) return whole
  const schemas = (whole.components?.schemas ?? {}) as Readonly<Record<string, object>>
  const used = new Set<string>()
  const visit = (part: unknown): void => {
    for (const [, name = ''] of JSON.stringify(part ?? {}).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name)) continue
      used.add(name)
      visit(schemas[name])
    }
  }
  visit(whole.paths)
  const kept = Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)))
  return { ...whole, components: { ...whole.components, schemas: kept } } as typeof whole
}

/** Replaces each reference by its schema. The recursion ends, because no component refers to itself. */
export function expandedPaths({ paths, components }: { readonly paths?: object; readonly components?: object }): unknown {
  const { schemas = {} } = (components ?? {}) as { readonly schemas?: Readonly<Record<string, unknown>> }
  const expand = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(expand)
    if (typeof part !== 'object' || part === null) return part
    if ('$ref' in part && typeof part.$ref === 'string') return expand(schemas[part.$ref.replace('#/components/schemas/', '')])
    return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, expand(value)]))
  }
  return expand(paths ?? {})
}
