import { z } from 'zod'
import { whole } from '../load/values.ts'

export const hostName = z.string().regex(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i, 'must be a host name, without scheme and port')
export const listenHost = z.string().regex(/^[A-Za-z0-9._:-]+$/, 'must be a host name or an IP address, without a port')

export const adminSchema = z
  .strictObject({
    host: listenHost
      .default('127.0.0.1')
      .describe(
        'The address that the admin port listens on. It asks for no token: on another address than loopback let only probes and scrapers reach it.',
      ),
    hosts: z
      .array(hostName)
      .max(100)
      .default([])
      .describe(
        'Names that it is asked by, beside addresses and localhost: of the service that Prometheus scrapes. A request for any other is refused.',
      ),
    port: whole(0)
      .max(65_535)
      .default(0)
      .describe(
        '0 takes any free port, which the log names, so that several processes share a config. `portage run --admin-port` goes before it.',
      ),
  })
  .prefault({})
  .describe('Health, readiness and metrics of a process, whatever its role: GET /healthz, /readyz, /metrics.')

export const codecServerSchema = z
  .strictObject({
    host: listenHost
      .default('127.0.0.1')
      .describe('The address that it listens on. It speaks plain HTTP: on another address than loopback put a proxy with TLS before it.'),
    hosts: z
      .array(hostName)
      .max(100)
      .default([])
      .describe('Names that it is asked by, beside addresses and localhost. A request for any other is refused.'),
    port: whole(0).max(65_535).default(8098).describe('0 takes any free port. `portage codec-server --port` goes before it.'),
    origins: z
      .array(z.string().regex(/^https?:\/\/[a-z0-9.-]+(:[0-9]{1,5})?$/, 'must be scheme, host and port of a page, without a path'))
      .max(20)
      .default([])
      .describe('Temporal Web UIs whose pages may ask it in a browser: http://127.0.0.1:8233. Others are refused.'),
  })
  .prefault({})
  .describe("`portage codec-server`: decrypts payloads for Temporal's Web UI and command line. docs/operate/temporal/encryption.md")
