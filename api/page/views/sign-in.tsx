import { useState } from 'preact/hooks'
import type { Problem } from '../data/api.ts'
import { signIn } from '../data/session.ts'
import { Command } from '../parts/command.tsx'
import { ProblemNote } from '../parts/section.tsx'

/** Where a token is entered. What the page shows needs one of any level; its buttons need more. */
export function SignIn({ problem }: { readonly problem: Problem | undefined }) {
  const [text, setText] = useState('')
  const [isRefused, setRefused] = useState(false)
  return (
    <section id="sign-in" class="sign-in" aria-labelledby="sign-in-title">
      <h2 id="sign-in-title">Enter an access token</h2>
      <p>
        What Portage tells names recipients, amounts and balances, so that reading needs a token of level read. The buttons of this page
        need one of level write.
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
            This is not a token of Portage. One has three parts with dots between them; paste all of it.
          </p>
        )}
        <button type="submit" class="strong">
          Show
        </button>
      </form>
      <p class="quiet-text">
        It is kept in this tab until it is closed, and sent to this server alone. Where the keys are, this makes one:
      </p>
      <Command text="portage token create --name <name> --level read --expires 8h" />
    </section>
  )
}
