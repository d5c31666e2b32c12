import { useState } from 'preact/hooks'

export function Command({ text }: { readonly text: string }) {
  const [said, setSaid] = useState('')
  const copy = async () => {
    // Browsers allow access to the clipboard only over https and on this machine.
    const isCopied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    )
    setSaid(isCopied ? 'copied' : 'select the text and copy it')
    setTimeout(() => setSaid(''), 2_000)
  }
  return (
    <span class="command">
      <code>{text}</code>
      <button type="button" class="small" onClick={() => void copy()} aria-label={`Copy: ${text}`}>
        Copy
      </button>
      <span role="status" class="quiet-status">
        {said}
      </span>
    </span>
  )
}
