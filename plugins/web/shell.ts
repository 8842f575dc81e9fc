import { randomBytes } from 'node:crypto'
import type { Installation } from 'pounce/sdk'
import { cookieIn, pagePolicy } from 'pounce/sdk/kit'
import type { BuildState, EntryFiles } from './app-build.ts'
import type { PageHead } from './page-head.ts'

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escaped = (text: string): string => text.toWellFormed().replace(/[&<>"']/g, character => escapes[character] ?? '')

/** Serializes JSON for a script element, escaped so that no text ends the element or starts a comment. */
const scriptJson = (value: unknown): string =>
  JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

const themes: ReadonlySet<string> = new Set(['light', 'dark'])
const languages = ['en', 'de']

/** The path of the base URL; usually empty. */
export const basePath = ({ baseUrl }: Installation): string => new URL(baseUrl).pathname.replace(/\/$/, '')

/** The inputs of a page. */
export interface PageParts {
  readonly state: BuildState
  /** The path of the base URL; usually empty. */
  readonly base: string
  readonly cookie: string | undefined
  readonly acceptLanguage: string | undefined
  readonly head?: PageHead | undefined
}

/** A page and its response headers. */
export interface ShellPage {
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

/** The nine dots of the logo. */
const favicon = encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 18 18" fill="#0b655c">${[2, 9, 16]
    .flatMap(y => [2, 9, 16].map(x => `<circle cx="${x}" cy="${y}" r="2"/>`))
    .join('')}</svg>`,
)

const contentPolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' blob: data:",
    "media-src 'self' blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')

/** The HTML of every page: links to scripts and styles, and metadata of the resource. The content is rendered by the script. */
export const shellPage = ({ state, base, cookie, acceptLanguage, head }: PageParts): ShellPage => {
  if (typeof state === 'string') return waitingPage(state, base)
  const nonce = randomBytes(16).toString('base64')
  const theme = cookieIn(cookie, 'pounce_theme') ?? ''
  const language = cookieIn(cookie, 'pounce_language') ?? preferredLanguage(acceptLanguage)
  const html = `<!doctype html>
<html lang="${languages.includes(language) ? language : 'en'}"${themes.has(theme) ? ` data-theme="${theme}"` : ''} data-base="${escaped(base)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta property="csp-nonce" nonce="${nonce}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:image/svg+xml,${favicon}">
${resourceHead(head)}${assetLinks(state.entry, base)}
</head>
<body>
<div id="app"></div>
<noscript>Pounce needs JavaScript. The API works without: <a href="${escaped(base)}/docs">API documentation</a></noscript>
</body>
</html>
`
  const link = (head?.links ?? []).map(
    ({ rel, href, type }) => `<${encodeURI(href)}>; rel="${rel}"${type === undefined ? '' : `; type="${escapedHeader(type)}"`}`,
  )
  return {
    html,
    headers: {
      'content-security-policy': contentPolicy(nonce),
      'cache-control': 'private, no-cache',
      vary: 'Cookie, Accept-Language',
      ...(link.length === 0 ? {} : { link: link.join(', ') }),
    },
  }
}

const escapedHeader = (text: string): string => text.replace(/[^\x20-\x7e]|["\\]/g, '')

const resourceHead = (head: PageHead | undefined): string => {
  if (!head) return '<title>Pounce</title>\n'
  const title = escaped(head.title)
  const description = escaped(head.description)
  return `<title>${title} · Pounce</title>
<meta property="og:title" content="${title}">
<meta property="og:type" content="website">
${description === '' ? '' : `<meta name="description" content="${description}">\n<meta property="og:description" content="${description}">\n`}${head.links
  .map(({ rel, href, type }) => `<link rel="${rel}" href="${escaped(href)}"${type === undefined ? '' : ` type="${escaped(type)}"`}>\n`)
  .join('')}${head.jsonLd ? `<script type="application/ld+json">${scriptJson(head.jsonLd)}</script>\n` : ''}`
}

const assetLinks = ({ script, styles, modules, fonts }: EntryFiles, base: string): string => {
  const at = (file: string): string => `${escaped(base)}/web/${file}`
  return [
    ...styles.map(file => `<link rel="stylesheet" href="${at(file)}">`),
    ...fonts.map(file => `<link rel="preload" href="${at(file)}" as="font" type="font/woff2" crossorigin>`),
    ...modules.map(file => `<link rel="modulepreload" href="${at(file)}">`),
    `<script type="module" src="${at(script)}"></script>`,
  ].join('\n')
}

const preferredLanguage = (header: string | undefined): string =>
  (header ?? '')
    .split(',')
    .map(part => part.trim().slice(0, 2).toLowerCase())
    .find(language => languages.includes(language)) ?? 'en'

const waitingPage = (state: 'building' | 'missing', base: string): ShellPage => {
  const text =
    state === 'building'
      ? 'The web interface is being built. This page reloads when it is ready.'
      : 'The web interface is not built. Run “npm ci” and “npm run web:build” on the server.'
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${state === 'building' ? '<meta http-equiv="refresh" content="2">\n' : ''}<title>Pounce</title>
</head>
<body>
<h1>Pounce</h1>
<p>${text}</p>
<p>The API is ready: <a href="${escaped(base)}/docs">API documentation</a></p>
</body>
</html>
`
  return { html, headers: { 'content-security-policy': pagePolicy(), 'cache-control': 'no-store' } }
}
