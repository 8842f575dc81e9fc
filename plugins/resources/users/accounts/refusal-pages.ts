import { type MiddlewareClass, type MiddlewareContext, Problem, wire } from 'pounce/sdk'
import { FirstAdmin } from './first-admin.ts'
import { plainStyle, setUpHeaders } from './set-up-page.ts'

/** For constant texts, the configuration and problems: no data from the request. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const pageOf = (title: string, paragraphs: readonly string[]): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${plainStyle}</style>
<main>
<h1>${title}</h1>
${paragraphs.map(paragraph => `<p>${paragraph}</p>`).join('\n')}
</main>
</html>
`

const setUpRefusal = ({ code, message }: Problem, hasPages: boolean): string =>
  pageOf('Set up Pounce', [
    escaped(code === 'invalid' ? 'This address has no valid token.' : message),
    'While a server has no administrator, it prints a setup link at each start. Only the last one is valid, once.',
    `If there is an account already: ${hasPages ? '<a href=".">sign in</a>, or ' : ''}see <a href="docs">the API</a>.`,
  ])

const signInRefusal = ({ message }: Problem, hasPages: boolean, start: string): string =>
  pageOf('Sign-in failed', [escaped(message), ...(hasPages ? [`<a href="${start}">Back to the server</a>`] : [])])

/** A redirect to a sign-in provider, or back from it; group 1 exists on the way back. */
const signInPath = /^\/api\/login\/[^/]+(\/callback)?$/

/**
 * Responds to browsers with a page where users open an address that no page can handle: a setup link that is missing or invalid, and a sign-in with a
 * provider that was aborted or refused. Programs get the problem as JSON.
 */
export class RefusalPages implements MiddlewareClass {
  #setUp: FirstAdmin

  constructor(setUp: FirstAdmin) {
    this.#setUp = setUp
  }

  async handle(context: MiddlewareContext, next: () => Promise<unknown>): Promise<void> {
    try {
      await next()
    } catch (error) {
      const isOpened = context.method === 'GET' && /\btext\/html\b/.test(context.get('accept'))
      const page = isOpened && error instanceof Problem ? this.#pageFor(context.path, error) : undefined
      if (!(error instanceof Problem) || page === undefined) throw error
      context.status = error.status
      context.body = page
      context.set('content-type', 'text/html; charset=utf-8')
      for (const [name, value] of Object.entries(setUpHeaders)) context.set(name, value)
    }
  }

  #pageFor(path: string, problem: Problem): string | undefined {
    const hasPages = this.#setUp.page !== '/setup'
    if (path === '/setup') return setUpRefusal(problem, hasPages)
    const signIn = signInPath.exec(path)
    return signIn ? signInRefusal(problem, hasPages, signIn[1] === undefined ? '../../' : '../../../') : undefined
  }
}
wire(RefusalPages, FirstAdmin)
