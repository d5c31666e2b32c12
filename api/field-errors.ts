/** A field of a request that is wrong. */
export interface FieldError {
  /** `body.reason`, `body.orders.0.kind`; `body` alone: the whole of it. */
  readonly path: string
  readonly message: string
}

/** As fastify-type-provider-zod makes one of an issue of zod. */
interface Issue {
  readonly keyword?: string | undefined
  readonly instancePath: string
  readonly message?: string | undefined
  readonly params?: object | undefined
}

/** An issue as zod has it: those of the options of a union are not turned into the other form. */
interface RawIssue {
  readonly code?: string
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly errors?: readonly (readonly RawIssue[])[]
  readonly keys?: readonly string[]
}

/** Fields that are named at most: a body of 256 KB can have a hundred thousand wrong ones. */
const mostNamed = 50
const longest = 200

/** Every wrong field of a request, the first ones where there are many. @param context `body`, `querystring`, `params` or `headers` */
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

/** A field that is not known is named itself, and of a union the option that fits best is told: the one with the fewest fields that are wrong. */
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
