import { listenHttp } from './servers.ts'

export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly name: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly resource: Readonly<Record<string, unknown>>
}

interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}
type Sent = Omit<ReceivedSpan, 'attributes' | 'resource'> & { readonly attributes: readonly Attribute[] }
interface Body {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeSpans: readonly { readonly spans: readonly Sent[] }[]
  }[]
}

const plain = (attributes: readonly Attribute[]) => Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

/** Collects OTLP over HTTP as JSON (https://opentelemetry.io/docs/specs/otlp/#otlphttp). */
export async function startOtlpReceiver() {
  const spans: ReceivedSpan[] = []
  const bodies: string[] = []
  const url = await listenHttp((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (part: string) => (body += part))
    request.on('end', () => {
      const isTraces = request.method === 'POST' && request.url === '/v1/traces'
      if (isTraces) {
        bodies.push(body)
        for (const { resource, scopeSpans } of (JSON.parse(body) as Body).resourceSpans)
          for (const { attributes, parentSpanId = '', ...span } of scopeSpans.flatMap((scope) => scope.spans))
            spans.push({ ...span, parentSpanId, attributes: plain(attributes), resource: plain(resource.attributes) })
      }
      response.writeHead(isTraces ? 200 : 404, { 'content-type': 'application/json' }).end('{}')
    })
  })
  return {
    url,
    spans: spans as readonly ReceivedSpan[],
    bodies: bodies as readonly string[],
  }
}
