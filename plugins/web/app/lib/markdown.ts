import DOMPurify from 'dompurify'
import { Marked } from 'marked'

const isOfThisServer = (address: string): boolean => {
  try {
    return new URL(address, location.href).origin === location.origin && /^(?:https?:)?\//.test(address)
  } catch {
    return false
  }
}

/** Pictures that are within the text, as notebooks have them. */
const dataPicture = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]*$/

/**
 * Browsers report handlers in HTML as violations of the policy as soon as it is parsed, though they never run; without this a README would fill the
 * console. What keeps the page safe is DOMPurify.
 */
const handlers = /\son\w+\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]*)/gi
const styles = /\sstyle\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]*)/gi
const marked = new Marked({
  gfm: true,
  renderer: { html: ({ text }) => text.replace(handlers, '').replace(styles, '') },
  // The page has its own title, and the section of the text a heading below it.
  walkTokens: token => {
    if (token.type === 'heading') token.depth = Math.min(6, token.depth + 2)
  },
})

const purify = DOMPurify()
purify.addHook('afterSanitizeAttributes', element => {
  if (element.tagName === 'IMG') {
    // The policy of the page forbids pictures of other servers, which would learn who reads this.
    const source = element.getAttribute('src') ?? ''
    if (!isOfThisServer(source) && !dataPicture.test(source)) element.replaceWith(element.getAttribute('alt') ?? '')
    return
  }
  const href = element.getAttribute('href')
  if (href === null) return
  if (/^(?:https?:|mailto:)/i.test(href)) {
    element.setAttribute('rel', 'noopener noreferrer nofollow')
  } else if (!href.startsWith('#')) element.removeAttribute('href')
})

const sanitized = (html: string): string =>
  purify.sanitize(html, {
    USE_PROFILES: { html: true },
    FORBID_TAGS: ['style', 'form', 'input', 'button', 'select', 'textarea', 'iframe', 'video', 'audio', 'source', 'picture', 'svg', 'math'],
    FORBID_ATTR: ['style', 'class', 'srcset', 'background', 'border', 'name'],
    SANITIZE_NAMED_PROPS: true,
  })

/** HTML of Markdown that other people wrote: nothing in it runs, looks like a part of the page, or asks another server. */
export const htmlOf = (text: string): string => sanitized(marked.parse(text, { async: false }))

/** HTML that other people's programs wrote, in the same way harmless. */
export const harmlessHtml = (html: string): string =>
  sanitized(
    html
      .replace(/<style[\s\S]*?<\/style\s*>/gi, '')
      .replace(handlers, '')
      .replace(styles, ''),
  )
