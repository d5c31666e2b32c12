import { z } from 'zod'
import { host as anyHost, text, whole } from '../load/values.ts'

const hosts = z
  .array(text(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i, 'must be a host name, without scheme and port'))
  .max(100)
  .default([])
const host = anyHost.default('127.0.0.1')
const port = whole(0, 65_535)
const plainHttp = 'It is plain HTTP: use a proxy with TLS for any address but loopback.'
const otherNames = 'in addition to IP addresses and localhost. Requests for other names are refused'

export const apiSchema = z
  .strictObject({
    host: host.describe(`Address that the API listens on. ${plainHttp}`),
    hosts: hosts.describe(`Host names of the API, ${otherNames}, because a web page can point its own name here.`),
    port: port.default(8099).describe('0 takes any free port.'),
    requestsPerMinute: whole(1, 10_000_000)
      .default(6000)
      .describe('Highest number of requests per minute with one token. Requests without a valid token are counted per address.'),
  })
  .prefault({})
  .describe('The REST API.')

export const adminSchema = z
  .strictObject({
    host: host.describe('Address of the admin port. It needs no token: except on loopback, let only probes and scrapers reach it.'),
    hosts: hosts.describe(`Host names of the admin port, such as the service that Prometheus scrapes, ${otherNames}.`),
    port: port
      .default(0)
      .describe('0 takes any free port and logs it, so that processes can share a config. `portage run --admin-port` overrides it.'),
  })
  .prefault({})
  .describe('Health, readiness and metrics of every process: GET /healthz, /readyz, /metrics.')

export const codecServerSchema = z
  .strictObject({
    host: host.describe(`Address that the server listens on. ${plainHttp}`),
    hosts: hosts.describe(`Host names of the server, ${otherNames}.`),
    port: port.default(8098).describe('0 takes any free port. `portage codec-server --port` overrides it.'),
    origins: z
      .array(text(/^https?:\/\/[a-z0-9.-]+(:[0-9]{1,5})?$/, 'must be scheme, host and port of a page, without a path'))
      .max(20)
      .default([])
      .describe('Temporal Web UIs whose pages may use the server, such as http://127.0.0.1:8233. Others are refused.'),
  })
  .prefault({})
  .describe("`portage codec-server`: decrypts payloads for Temporal's Web UI and command line. docs/operate/temporal/encryption.md")
