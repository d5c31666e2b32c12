/** The mark of Portage: a boat that is carried. */
export function Brand() {
  return (
    <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#1f4f8f" />
      <path
        d="M5 20c4 3.200 18 3.200 22 0M5 20c1.600-1 3-2.800 3.600-5M27 20c-1.600-1-3-2.800-3.600-5"
        fill="none"
        stroke="#fff"
        stroke-width="2.600"
        stroke-linecap="round"
      />
      <circle cx="16" cy="9" r="2.600" fill="#9cc6ff" />
    </svg>
  )
}
