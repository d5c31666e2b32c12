import { expandedPaths } from '../../api/openapi.ts'
import { createApi } from '../../api/server.ts'
import type { ApiDeps } from '../../api/deps.ts'
import { accessSource } from '../../config/data-folder.ts'
import { configSchema } from '../../config/schema/schema.ts'
import { groupBy } from '../../domain/group-by.ts'
import { contentsPlace } from './contents.ts'
import { markdownTable } from './markdown.ts'

interface Operation {
  readonly summary?: string
  readonly description?: string
  readonly security?: readonly object[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: Schema
}

interface Schema {
  readonly type?: string
  readonly description?: string
  readonly enum?: readonly string[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}

/** docs/reference/api.md: every route with its parameters and fields, from the OpenAPI document of the API. */
export async function describeApi(): Promise<string> {
  const api = await createApi(noDependencies())
  const paths = expandedPaths(api.swagger()) as Readonly<Record<string, Readonly<Record<string, Operation>>>>
  await api.close()
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const groups = groupBy(routes, ({ path }) => /^\/v1\/([a-z]+)/.exec(path)?.[1] ?? 'other')
  return [
    '# API routes',
    'Every route of the HTTP API. [The HTTP API](../start/http-api.md) explains refusals, filters and events with examples. `GET /v1/openapi.json` also has the schemas of the answers.',
    contentsPlace,
    ...[...groups].map(([name, members]) => `## ${name}\n\n${members.map(routeText).join('\n\n')}`),
    '## Next steps\n\n- [The HTTP API](../start/http-api.md): examples that run.\n- [Access](../operate/access.md): which route needs which token.',
  ].join('\n\n')
}

function routeText({ path, method, operation }: { readonly path: string; readonly method: string; readonly operation: Operation }): string {
  const { summary, description, security, parameters = [], requestBody } = operation
  const body = Object.values(requestBody?.content ?? {})[0]?.schema ?? {}
  const forms = body.anyOf ?? body.oneOf ?? [body]
  const fields = Object.entries(Object.assign({}, ...forms.map(({ properties }) => properties)) as Record<string, Schema>).map(
    ([name, schema]) => ({ name, in: 'body', required: forms.every(({ required }) => required?.includes(name)), schema }),
  )
  const rows = [...parameters, ...fields].map((one) => [
    `\`${one.name}\``,
    one.required ? `${one.in}, required` : one.in,
    typeText(one.schema),
    ('description' in one ? one.description : undefined) ?? one.schema?.description ?? '',
  ])
  return [
    `### ${method} ${path}`,
    [summary, description].filter(Boolean).join('. '),
    ...(security?.length === 0 ? ['The route is open: requests need no token.'] : []),
    ...(rows.length === 0 ? [] : [markdownTable(['parameter', 'in', 'type', 'meaning'], rows)]),
  ].join('\n\n')
}

function typeText({ type, enum: values }: Schema = {}): string {
  return values ? values.map((value) => `\`${value}\``).join(', ') : (type ?? '')
}

/** Dependencies of an API that declares its routes but answers nothing. */
function noDependencies(): ApiDeps {
  const config = configSchema.parse({ dataFolder: '.', chains: {}, bridges: {} })
  const anything: object = new Proxy(() => anything, {
    get: (_, name) => (name === 'then' ? undefined : name === Symbol.toPrimitive ? () => '0' : anything),
  })
  // `requestsOf` is undefined, as in a process that cannot read requests for execution.
  const real = { config, access: accessSource(config), requestsOf: undefined }
  return new Proxy(real as unknown as ApiDeps, {
    get: (target, name) => (name in target ? target[name as keyof ApiDeps] : anything),
  })
}
