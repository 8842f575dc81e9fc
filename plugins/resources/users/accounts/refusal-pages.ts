import { type MiddlewareClass, type MiddlewareContext, Problem, wire } from 'pounce/sdk'
import { isOpenedInBrowser, type LinkPage, type PlainPage, plainPage, respondWithPage, showsLinkPage } from 'pounce/sdk/kit'
import { FirstAdmin } from './first-admin.ts'

/** For constant texts, the configuration and problems: no data from the request. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const pageOf = (title: string, paragraphs: readonly string[]): PlainPage =>
  plainPage(title, paragraphs.map(paragraph => `<p>${paragraph}</p>`).join('\n'))

const setUpRefusal = ({ code, message }: Problem, hasPages: boolean): PlainPage =>
  pageOf('Set up Pounce', [
    escaped(code === 'invalid' ? 'This address has no valid token.' : message),
    'While a server has no administrator, it prints a setup link at each start. Only the last one is valid, once.',
    `If there is an account already: ${hasPages ? '<a href=".">sign in</a>, or ' : ''}see <a href="docs">the API</a>.`,
  ])

const signInRefusal = ({ message }: Problem, hasPages: boolean, start: string): PlainPage =>
  pageOf('Sign-in failed', [escaped(message), ...(hasPages ? [`<a href="${start}">Back to the server</a>`] : [])])

/** Behind the emailed link that links an identity of a provider to an account. */
const linkPage: LinkPage = {
  title: 'Link a sign-in to your account',
  text: 'Someone signed in with <b data-member="label"></b> using your email address, <b data-member="email"></b>. If this was not you, close this page: linking it would give that person access to your account.',
  button: 'Link sign-in',
  done: 'Done. You can sign in with it now.',
}

/** A redirect to a sign-in provider, or back from it; group 1 exists on the way back. */
const signInPath = /^\/api\/login\/[^/]+(\/callback)?$/

/**
 * Responds to browsers with a page where users open an address that no page can handle: a setup link that is missing or invalid, a sign-in with a
 * provider that was aborted or refused, and the route that an emailed link leads to without a web interface. Programs get JSON.
 */
export class RefusalPages implements MiddlewareClass {
  #setUp: FirstAdmin

  constructor(setUp: FirstAdmin) {
    this.#setUp = setUp
  }

  async handle(context: MiddlewareContext, next: () => Promise<unknown>): Promise<void> {
    if (showsLinkPage(context, { '/api/login/link': linkPage })) return
    try {
      await next()
    } catch (error) {
      const page = isOpenedInBrowser(context) && error instanceof Problem ? this.#pageFor(context.path, error) : undefined
      if (!(error instanceof Problem) || page === undefined) throw error
      respondWithPage(context, error.status, page)
    }
  }

  #pageFor(path: string, problem: Problem): PlainPage | undefined {
    const hasPages = this.#setUp.page !== '/setup'
    if (path === '/setup') return setUpRefusal(problem, hasPages)
    const signIn = signInPath.exec(path)
    return signIn ? signInRefusal(problem, hasPages, signIn[1] === undefined ? '../../' : '../../../') : undefined
  }
}
wire(RefusalPages, FirstAdmin)
