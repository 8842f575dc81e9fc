import purify from 'dompurify'

/** HTML that people wrote, without anything that runs, loads from elsewhere or changes the page around it. */
export const safeHtml = (html: string): string =>
  purify.sanitize(html, {
    USE_PROFILES: { html: true },
    FORBID_TAGS: ['style', 'form', 'input', 'button', 'select', 'textarea', 'dialog'],
    FORBID_ATTR: ['style', 'class', 'id', 'name', 'target'],
  })
