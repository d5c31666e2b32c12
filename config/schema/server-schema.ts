import { z } from 'zod'
import { whole } from '../load/values.ts'

export const hostName = z.string().regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i, 'must be a host name, without scheme and port')
export const listenHost = z.string().regex(/^[A-Za-z0-9._:-]+$/, 'must be a host name or an IP address, without a port')

export const adminSchema = z
  .strictObject({
    host: listenHost
      .default('127.0.0.1')
      .describe(
        'Address that the admin port listens on. It needs no token: on any address but loopback, let only probes and scrapers reach it.',
      ),
    hosts: z
      .array(hostName)
      .max(100)
      .default([])
      .describe(
        'Host names of the admin port, in addition to IP addresses and localhost, such as the service that Prometheus scrapes. Requests for other names are refused.',
      ),
    port: whole(0)
      .max(65_535)
      .default(0)
      .describe(
        '0 takes any free port and logs it, so that several processes can share a config. `portage run --admin-port` overrides it.',
      ),
  })
  .prefault({})
  .describe('Health, readiness and metrics of every process: GET /healthz, /readyz, /metrics.')

export const codecServerSchema = z
  .strictObject({
    host: listenHost
      .default('127.0.0.1')
      .describe('Address that the server listens on. It is plain HTTP: use a proxy with TLS for any address but loopback.'),
    hosts: z
      .array(hostName)
      .max(100)
      .default([])
      .describe('Host names of the server, in addition to IP addresses and localhost. Requests for other names are refused.'),
    port: whole(0).max(65_535).default(8098).describe('0 takes any free port. `portage codec-server --port` overrides it.'),
    origins: z
      .array(z.string().regex(/^https?:\/\/[a-z0-9.-]+(:[0-9]{1,5})?$/, 'must be scheme, host and port of a page, without a path'))
      .max(20)
      .default([])
      .describe('Temporal Web UIs whose pages may use the server: http://127.0.0.1:8233. Others are refused.'),
  })
  .prefault({})
  .describe("`portage codec-server`: decrypts payloads for Temporal's Web UI and command line. docs/operate/temporal/encryption.md")
