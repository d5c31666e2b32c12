/** How much of something is used, as a bar beside the figures that say the same. */
export function Meter({ share, label }: { readonly share: number | undefined; readonly label: string }) {
  if (share === undefined) return null
  const level = share >= 0.9 ? 'high' : share >= 0.7 ? 'mid' : 'low'
  return <progress class={`meter ${level}`} max={100} value={Math.round(share * 100)} aria-label={label} />
}
