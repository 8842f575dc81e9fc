import { useEffect, useState } from 'react'

/** HTML that people wrote, without anything that runs, loads from elsewhere or changes the page around it. Nothing is drawn before it is sanitised. */
export const Sanitized = ({ html }: { readonly html: string }) => {
  const [safe, setSafe] = useState('')
  useEffect(() => {
    let isCurrent = true
    void import('dompurify').then(({ default: purify }) => {
      const clean = purify.sanitize(html, {
        USE_PROFILES: { html: true },
        FORBID_TAGS: ['style', 'form', 'input', 'button', 'select', 'textarea', 'dialog'],
        FORBID_ATTR: ['style', 'class', 'id', 'name', 'target'],
      })
      if (isCurrent) setSafe(clean)
    })
    return () => {
      isCurrent = false
    }
  }, [html])
  // biome-ignore lint/security/noDangerouslySetInnerHtml: sanitised above
  return <div className="prose" dangerouslySetInnerHTML={{ __html: safe }} />
}
