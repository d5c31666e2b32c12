import { useState } from 'preact/hooks'
import type { ShownProblem } from '../data/api.ts'
import { signIn } from '../data/session.ts'
import { Command } from '../parts/command.tsx'
import { ProblemNote } from '../parts/section.tsx'

export function SignIn({ problem }: { readonly problem: ShownProblem | undefined }) {
  const [text, setText] = useState('')
  const [isRefused, setRefused] = useState(false)
  return (
    <section id="sign-in" class="sign-in" aria-labelledby="sign-in-title">
      <h2 id="sign-in-title">Enter an access token</h2>
      <p>
        Portage's data contains recipients, amounts and balances, so reading needs a token of level read. Orders (retry, cancel, expedite)
        need level write.
      </p>
      {problem && <ProblemNote problem={problem} />}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          setRefused(!signIn(text))
        }}
      >
        <label class="field">
          Token
          <input
            type="password"
            autoComplete="off"
            spellcheck={false}
            required
            value={text}
            aria-describedby={isRefused ? 'token-problem' : undefined}
            aria-invalid={isRefused}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        {isRefused && (
          <p id="token-problem" class="note bad" role="alert">
            This is not a token of Portage. A token has three parts with dots between them; paste all of it.
          </p>
        )}
        <button type="submit" class="strong">
          Show
        </button>
      </form>
      <p class="quiet-text">
        This tab keeps the token until it is closed and sends it to this server alone. On the machine with the key file, this command
        creates a token:
      </p>
      <Command text="portage token create --name <name> --level read --expires 8h" />
    </section>
  )
}
