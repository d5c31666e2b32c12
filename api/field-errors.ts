export interface FieldError {
  /** `body.reason`, `body.orders.0.kind`; `body` alone: all of the body. */
  readonly path: string
  readonly message: string
}

interface Issue {
  readonly keyword?: string | undefined
  readonly instancePath: string
  readonly message?: string | undefined
  readonly params?: object | undefined
}

/** An issue of zod: those of the options of a union are not converted. */
interface RawIssue {
  readonly code?: string
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly errors?: readonly (readonly RawIssue[])[]
  readonly keys?: readonly string[]
}

/** A body of 256 KB can have a hundred thousand wrong fields. */
const mostNamed = 50
const longest = 200

/** The first wrong fields of a request. @param context `body`, `querystring`, `params` or `headers` */
export function fieldErrors(context: string, issues: readonly Issue[]): FieldError[] {
  const found = issues.slice(0, mostNamed).flatMap(({ keyword, instancePath, message, params }) => {
    const path = instancePath.split('/').filter(Boolean)
    return expanded({ ...params, ...(keyword !== undefined && { code: keyword }), path, message: message ?? 'is not valid' })
  })
  return found.slice(0, mostNamed).map(({ path, message }) => ({
    path: [context, ...path.map(String)].join('.').slice(0, longest),
    message: message.slice(0, longest),
  }))
}

export function fieldErrorsText(errors: readonly FieldError[]): string {
  return errors.map(({ path, message }) => `${path}: ${message}`).join('; ')
}

/** Names each unknown field. Of a union it reports the option with the fewest wrong fields. */
function expanded(issue: RawIssue): { readonly path: readonly PropertyKey[]; readonly message: string }[] {
  const { code, path, message, errors = [], keys = [] } = issue
  if (code === 'unrecognized_keys' && keys.length > 0) return keys.map((key) => ({ path: [...path, key], message: 'is not known here' }))
  const options = errors.filter((option) => option.length > 0).map((option) => option.flatMap((one) => expanded(withPrefix(path, one))))
  const [best] = options.toSorted((a, b) => a.length - b.length)
  return code === 'invalid_union' && best ? best : [{ path, message }]
}

function withPrefix(prefix: readonly PropertyKey[], issue: RawIssue): RawIssue {
  return { ...issue, path: [...prefix, ...issue.path] }
}
