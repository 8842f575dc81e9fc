import DOMPurify from 'dompurify'
import { Marked, type Tokens } from 'marked'
import { number } from './format.ts'
import { t } from './i18n.ts'

export { linkRelatives } from './relative-links.ts'

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
const styleElements = /<style\b[\s\S]*?(?:<\/style\s*>|$)/gi
const styles = /\sstyle\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]*)/gi
/** HTML without what browsers report. */
const quiet = (html: string): string => html.replace(styleElements, '').replace(handlers, '').replace(styles, '')

/** Browsers lay out longer tables for seconds, in which the page does not react. */
const maxRows = 2000

/** Leaves the first rows of a long table, and one that says so. */
const cutTable = ({ rows, header }: Tokens.Table): void => {
  const count = rows.length
  const [cell] = header
  if (count <= maxRows || !cell) return
  const text = t('markdown.cut', { count, shown: number(maxRows), all: number(count) })
  rows.length = maxRows
  rows.push([{ ...cell, header: false, text, tokens: [{ type: 'text', raw: text, text }] }])
}

const marked = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }) => quiet(text),
    // Inputs are removed, as those of HTML are.
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
  },
  // The page has its own title, and the section of the text a heading below it.
  walkTokens: token => {
    if (token.type === 'heading') token.depth = Math.min(6, token.depth + 2)
    if (token.type === 'table') cutTable(token as Tokens.Table)
  },
})

/** Before all ids of a text, so that none is taken for a part of the page. DOMPurify has the same prefix. */
const anchorPrefix = 'user-content-'
/** How often each heading of the current text has occurred. */
const headings = new Map<string, number>()

/** The id of a heading: as on GitHub, where most authors try their links. */
const anchorOf = (heading: string): string => {
  const name = heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
  const count = headings.get(name) ?? 0
  headings.set(name, count + 1)
  return `${anchorPrefix}${name}${count === 0 ? '' : `-${count}`}`
}

const prefixed = (anchor: string): string => (anchor.startsWith(anchorPrefix) ? anchor : anchorPrefix + anchor)

const decoded = (hash: string): string => {
  try {
    return decodeURIComponent(hash.slice(1))
  } catch {
    return hash.slice(1)
  }
}

/** Scrolls to the place in a text that the URL of the page names: a text is rendered after the browser has looked for it. */
export const scrollToAnchor = (text: Element): void => {
  if (location.hash !== '') text.querySelector(`#${CSS.escape(prefixed(decoded(location.hash)))}`)?.scrollIntoView()
}

/** Without scheme or host: it may name a file beside the text, which `linkRelatives` looks up. */
const isRelative = (address: string): boolean => !/^(?:[a-z][a-z0-9+.-]*:|[/\\]{2})/i.test(address)

const purify = DOMPurify()
purify.addHook('afterSanitizeAttributes', element => {
  if (/^H[1-6]$/.test(element.tagName)) {
    if (!element.id) element.id = anchorOf(element.textContent ?? '')
    return
  }
  if (element.tagName === 'IMG') {
    // The policy of the page forbids pictures of other servers, which would learn who reads this.
    const source = element.getAttribute('src') ?? ''
    if (isOfThisServer(source) || dataPicture.test(source)) return
    const description = document.createElement('span')
    description.textContent = element.getAttribute('alt') ?? ''
    if (isRelative(source)) description.setAttribute('data-relative', source)
    element.replaceWith(description)
    return
  }
  const href = element.getAttribute('href')
  if (href === null) return
  if (/^(?:https?:|mailto:)/i.test(href)) {
    element.setAttribute('rel', 'noopener noreferrer nofollow')
  } else if (!href.startsWith('#')) {
    element.removeAttribute('href')
    if (isRelative(href)) element.setAttribute('data-relative', href)
  } else if (href !== '#') element.setAttribute('href', `#${encodeURIComponent(prefixed(decoded(href)))}`)
})

const sanitized = (html: string): string => {
  headings.clear()
  return purify.sanitize(html, {
    USE_PROFILES: { html: true },
    FORBID_TAGS: ['style', 'form', 'input', 'button', 'select', 'textarea', 'iframe', 'video', 'audio', 'source', 'picture', 'svg', 'math'],
    FORBID_ATTR: ['style', 'class', 'srcset', 'background', 'border', 'name'],
    SANITIZE_NAMED_PROPS: true,
  })
}

/** HTML of Markdown that other people wrote: nothing in it runs, looks like a part of the page, or asks another server. */
export const htmlOf = (text: string): string => sanitized(marked.parse(text, { async: false }))

/** HTML that other people's programs wrote, in the same way harmless. */
export const harmlessHtml = (html: string): string => sanitized(quiet(html))
