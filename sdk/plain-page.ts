import { createHash } from 'node:crypto'
import type { MiddlewareContext } from './plugin.ts'

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 26rem; margin: 4rem auto; padding: 0 1rem; color: #1b1f24; background: #fff }
label { display: block; margin-top: 1rem }
fieldset { margin-top: 1rem; border: 1px solid #6b7280; border-radius: .25rem }
input:not([type=radio]) { display: block; width: 100%; box-sizing: border-box; font: inherit; padding: .5rem; border: 1px solid #6b7280; border-radius: .25rem }
button { margin-top: 1.5rem; font: inherit; padding: .5rem 1rem }
[role=status] { margin-top: 1rem; font-weight: 600 }
pre { padding: .5rem; border: 1px solid #6b7280; border-radius: .25rem; white-space: pre-wrap; overflow-wrap: anywhere }
`

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** A page in HTML that servers without a web interface show. */
export interface PlainPage {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/**
 * A page that runs only its own style and this script, connects to this server only, and whose URL is not leaked. Title and content are HTML without
 * data of the request.
 */
export const plainPage = (title: string, content: string, script = ''): PlainPage => ({
  body: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
<main>
<h1>${title}</h1>
${content}
</main>
${script === '' ? '' : `<script>${script}</script>\n`}</html>
`,
  headers: {
    'content-security-policy': [
      "default-src 'none'",
      `script-src ${hashOf(script)}`,
      `style-src ${hashOf(style)}`,
      "connect-src 'self'",
      "form-action 'none'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  },
})

const formScript = `
const form = document.querySelector('form')
const status = document.querySelector('[role=status]')
const token = new URLSearchParams(location.search).get('token') ?? ''
const call = async (address, init, show) => {
  try {
    const answer = await fetch(address, { ...init, headers: { accept: 'application/json', 'content-type': 'application/json' } })
    const body = await answer.json()
    if (answer.ok) show(body)
    else status.textContent = body.message
  } catch (error) {
    status.textContent = 'The server is unreachable.'
  }
}
call(location.href, {}, body => {
  for (const element of document.querySelectorAll('[data-member]')) element.textContent = body[element.dataset.member]
  form.hidden = false
})
form.addEventListener('submit', async event => {
  event.preventDefault()
  const body = JSON.stringify({ ...Object.fromEntries(new FormData(form)), token })
  form.querySelector('button').disabled = true
  status.textContent = 'One moment …'
  await call(location.pathname, { method: 'POST', body }, () => {
    form.hidden = true
    status.textContent = form.dataset.done
    history.replaceState(null, '', location.pathname)
  })
  form.querySelector('button').disabled = false
})
`

/** A plain page with a form behind an emailed link. All texts are HTML, and contain no data of the request. */
export interface LinkPage {
  readonly title: string
  /** `<b data-member="email"></b>` shows a member of the JSON that the route returns. */
  readonly text: string
  /** Inputs with their labels, in HTML; their names are members of the body that is sent. */
  readonly fields?: string
  readonly button: string
  /** Shown once the form has been sent. */
  readonly done: string
}

const pageOf = ({ title, text, fields = '', button, done }: LinkPage): PlainPage => {
  const form = `<form data-done="${done}" hidden>
<p>${text}</p>
${fields}<button>${button}</button>
</form>
<p role="status"></p>`
  return plainPage(title, form, formScript)
}

/** Whether a browser opens this address; programs get JSON. */
export const isOpenedInBrowser = (context: MiddlewareContext): boolean =>
  context.method === 'GET' && /\btext\/html\b/.test(context.get('accept'))

/** Responds with a page from middleware. */
export const respondWithPage = (context: MiddlewareContext, status: number, { body, headers }: PlainPage): void => {
  context.status = status
  context.body = body
  context.set('content-type', 'text/html; charset=utf-8')
  for (const [name, value] of Object.entries(headers)) context.set(name, value)
}

/**
 * Responds with a form if a browser opens one of these paths: routes that an emailed link leads to on servers without a web interface. The form reads
 * the JSON of the route by GET with the token in its URL, and sends its fields and the token by POST. Returns false for other requests.
 */
export const showsLinkPage = (context: MiddlewareContext, forms: Readonly<Record<string, LinkPage>>): boolean => {
  const form = isOpenedInBrowser(context) ? forms[context.path] : undefined
  if (!form) return false
  respondWithPage(context, 200, pageOf(form))
  return true
}
