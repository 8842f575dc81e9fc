import { useEffect, useState } from 'react'

/** User-provided HTML. Nothing is rendered before it is sanitised. */
export const Sanitized = ({ html }: { readonly html: string }) => {
  const [safe, setSafe] = useState('')
  useEffect(() => {
    let isCurrent = true
    void import('../lib/safe-html.ts').then(({ safeHtml }) => isCurrent && setSafe(safeHtml(html)))
    return () => {
      isCurrent = false
    }
  }, [html])
  // biome-ignore lint/security/noDangerouslySetInnerHtml: sanitised above
  return <div className="prose" dangerouslySetInnerHTML={{ __html: safe }} />
}
