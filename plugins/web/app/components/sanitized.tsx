import { useEffect, useState } from 'react'
import { onDemand } from '../lib/on-demand.ts'

/** User-provided HTML. Nothing is rendered before it is sanitised. */
export const Sanitized = ({ html }: { readonly html: string }) => {
  const [safe, setSafe] = useState('')
  useEffect(() => {
    let isCurrent = true
    onDemand(() => import('../lib/safe-html.ts')).then(
      ({ safeHtml }) => isCurrent && setSafe(safeHtml(html)),
      // Without the sanitiser there is nothing to show.
      () => undefined,
    )
    return () => {
      isCurrent = false
    }
  }, [html])
  // biome-ignore lint/security/noDangerouslySetInnerHtml: sanitised above
  return <div className="prose" dangerouslySetInnerHTML={{ __html: safe }} />
}
