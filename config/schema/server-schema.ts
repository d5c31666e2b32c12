import { z } from 'zod'
import { host as anyHost, text, usually, whole } from '../load/values.ts'

const hosts = z
  .array(text(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i, 'must be a host name, without scheme and port'))
  .max(100)
  .default([])
const host = anyHost.default('127.0.0.1')
const port = whole(0, 65_535)
const plainHttp = 'The server speaks plain HTTP: use a proxy with TLS for any address but loopback.'
const otherNames = 'in addition to IP addresses and localhost. Requests for other names are refused'

export const apiSchema = z
  .strictObject({
    host: host.describe(`Address that the API listens on. ${plainHttp}`),
    hosts: hosts.describe(`Host names of the API, ${otherNames}, because a web page can point its own name to the API.`),
    port: usually(port, 8099).describe('Port of the API. 0 takes any free port.'),
    requestsPerMinute: usually(whole(1, 10_000_000), 6000).describe(
      'Maximum number of requests per minute with one token. Requests without a valid token are counted per address.',
    ),
  })
  .prefault({})
  .describe('The REST API.')

export const adminSchema = z
  .strictObject({
    host: host.describe(
      'Address of the admin port. Requests need no token: except on loopback, let only probes and scrapers reach the port.',
    ),
    hosts: hosts.describe(`Host names of the admin port, such as the service that Prometheus scrapes, ${otherNames}.`),
    port: usually(port, 0).describe(
      'Admin port of a process. 0 takes any free port and logs the port, so that processes can share a config. `portage run --admin-port` overrides it.',
    ),
  })
  .prefault({})
  .describe('Health, readiness and metrics of every process: GET /healthz, /readyz, /metrics.')

export const codecServerSchema = z
  .strictObject({
    host: host.describe(`Address that the codec server listens on. ${plainHttp}`),
    hosts: hosts.describe(`Host names of the codec server, ${otherNames}.`),
    port: usually(port, 8098).describe(
      'Port of the codec server. 0 takes any free port. `portage codec-server --port` overrides the port.',
    ),
    origins: z
      .array(text(/^https?:\/\/[a-z0-9.-]+(:[0-9]{1,5})?$/, 'must be scheme, host and port of a page, without a path'))
      .max(20)
      .default([])
      .describe('Temporal Web UIs whose pages may use the codec server, such as http://127.0.0.1:8233. The server refuses other pages.'),
  })
  .prefault({})
  .describe("`portage codec-server`: decrypts payloads for Temporal's Web UI and command line. docs/operate/temporal/encryption.md")
