import { z } from 'zod'
import { RelayerError } from '../../domain/catalogue/errors.ts'
import { messageBytes } from '../../intake/submit/message-bytes.ts'
import type { Api, ApiDeps } from '../deps.ts'
import { errorSchema, textOf, toErrorAnswer } from '../errors.ts'
import { defaultBridge, submit } from '../submit.ts'

const failed = {
  description: 'Why the VAA was refused.',
  content: {
    'application/json': { schema: z.object({ message: z.literal('Request failed'), code: z.string(), error: z.string() }) },
    ...errorSchema.content,
  },
}

/** `GET /relayvaa/{vaa}`, as spy_relayer. "Scheduled": signatures checked, transfer exists. Base64 may contain `/`. */
export function relayVaaRoute(app: Api, deps: ApiDeps): void {
  const schema = {
    summary: "spy_relayer's route: submit a VAA as base64 in the path",
    params: z.object({ '*': z.string().describe('The VAA, base64.') }),
    response: {
      200: z.object({ message: z.literal('Scheduled') }),
      400: failed,
      503: failed,
    },
  }
  app.get('/relayvaa/*', { config: { access: 'transfer submit' }, schema }, async (request, reply) => {
    try {
      const text = request.params['*']
      if (!text) throw new RelayerError('MESSAGE_ENCODING', { detail: 'The path holds no VAA.' })
      await submit(deps, request, { bridge: defaultBridge(deps.network.bridges), message: messageBytes(text) })
      return await reply.status(200).send({ message: 'Scheduled' })
    } catch (error) {
      const { status, retryAfter, body } = toErrorAnswer(error)
      if (retryAfter !== undefined) void reply.header('retry-after', String(retryAfter))
      // Clients of spy_relayer expect 400. A retriable refusal stays a 503, so that a proxy may try again.
      return reply.status(status >= 500 ? 503 : 400).send({ message: 'Request failed', code: body.code, error: textOf(body) })
    }
  })
}
