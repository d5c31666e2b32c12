import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../lab/devnet/ports.ts'
import { deadConfig, openApi } from './setting.ts'

let setting: Awaited<ReturnType<typeof openApi>>
beforeAll(async () => {
  setting = await openApi(deadConfig(await freePort()))
})
afterAll(() => setting.close())

test('GET /v1 lists the routes', async () => {
  expect((await setting.api.inject({ method: 'GET', url: '/v1' })).json()).toMatchInlineSnapshot(`
    {
      "routes": [
        "GET /v1/stuck",
        "POST /v1/transfers",
        "GET /v1/transfers",
        "POST /v1/transfers/bulk",
        "GET /v1/transfers/{id}",
        "POST /v1/transfers/{id}/retry",
        "POST /v1/transfers/retry",
        "POST /v1/transfers/{id}/cancel",
        "POST /v1/transfers/cancel",
        "POST /v1/transfers/{id}/expedite",
        "POST /v1/transfers/expedite",
        "GET /v1/lanes",
        "GET /v1/lanes/{lane}",
        "GET /v1/lanes/{lane}/batches",
        "GET /v1/lanes/{lane}/transactions",
        "GET /v1/streams",
        "GET /v1/streams/{stream}",
        "GET /v1/streams/{stream}/checkpoint",
        "POST /v1/streams/{stream}/checkpoint",
        "POST /v1/streams/{stream}/audit",
        "POST /v1/lanes/{lane}/pause",
        "POST /v1/lanes/{lane}/resume",
        "POST /v1/lanes/{lane}/drain",
        "POST /v1/lanes/{lane}/forbid",
        "POST /v1/lanes/{lane}/activate",
        "POST /v1/lanes/{lane}/resync",
        "POST /v1/lanes/{lane}/fill",
        "POST /v1/lanes/{lane}/cancel-nonce",
        "POST /v1/lanes/{lane}/replace",
        "POST /v1/lanes/{lane}/republish",
        "POST /v1/lanes/{lane}/set-window",
        "POST /v1/lanes/set-windows",
        "POST /v1/lanes/{lane}/reset",
        "POST /v1/lanes/{lane}/send",
        "POST /v1/lanes/{lane}/sweep",
        "POST /v1/lanes/{lane}/top-up",
        "POST /v1/transactions/{id}/cancel",
        "POST /v1/streams/{stream}/backfill",
        "POST /v1/streams/{stream}/reread",
        "POST /v1/streams/{stream}/skip",
        "POST /v1/streams/{stream}/unskip",
        "POST /v1/streams/{stream}/pause",
        "POST /v1/streams/{stream}/resume",
        "POST /v1/streams/{stream}/set-max-open",
        "POST /v1/streams/{stream}/trust",
        "POST /v1/settings",
        "GET /v1/settings",
        "POST /v1/notifications/{receiver}/test",
        "POST /v1/notifications/{receiver}/replay",
        "POST /v1/notifications/{receiver}/disable",
        "POST /v1/notifications/{receiver}/enable",
        "GET /v1/nodes",
        "GET /v1/audit",
        "GET /v1/audits",
        "POST /v1/audits",
        "GET /v1/settings/audit",
        "GET /v1/notifications",
        "GET /relayvaa/{vaa}",
        "GET /health",
        "GET /ready",
        "GET /metrics",
        "GET /v1/flow",
        "GET /v1/spending",
        "GET /v1/links",
        "GET /v1",
        "GET /v1/events",
      ],
    }
  `)
})
