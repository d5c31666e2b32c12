import type { Answer } from '../../runtime/http/small-server.ts'

const cookie = 'portage-codec'

const headers = {
  'content-security-policy': "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  // With no-referrer the form would have no origin.
  'referrer-policy': 'same-origin',
}

/** The Web UI can send cookies of this server, but no token of Portage. */
export function signInPage(status = 200, problem = ''): Answer {
  const body = `<!doctype html><meta charset="utf-8"><title>Portage codec server</title>
<h1>Portage codec server</h1>
<p>${problem || 'With an access token of Portage, this browser may have payloads decrypted in the Temporal Web UI until the token ends.'}</p>
<form method="post" action="/sign-in"><input type="password" name="token" autocomplete="off" required> <button>Sign in</button></form>
`
  return { status, type: 'text/html; charset=utf-8', body, headers }
}

/** Same-site, out of reach of scripts. Cookies ignore ports: every server of this host gets it. */
export function signedIn(token: string, expiresAt: number, isSecure: boolean): Answer {
  const seconds = Math.max(0, Math.floor((expiresAt - Date.now()) / 1000))
  const set = `${cookie}=${token}; Path=/decode; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
  const { type, body } = signInPage(200, 'Done: the Temporal Web UI may now ask this server.')
  return { status: 200, type, body, headers: { ...headers, 'set-cookie': set } }
}

export function tokenOfForm(body: Buffer): string | undefined {
  return new URLSearchParams(body.toString('utf8')).get('token')?.trim() || undefined
}

export function tokenOfCookie(header: string | undefined): string | undefined {
  const pair = header?.split(/;\s*/).find((one) => one.startsWith(`${cookie}=`))
  return pair?.slice(cookie.length + 1) || undefined
}
