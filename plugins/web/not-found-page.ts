import { Installation, type MiddlewareClass, type MiddlewareContext, Problem, wire } from 'pounce/sdk'
import { AppBuild } from './app-build.ts'
import { basePath, shellPage } from './shell.ts'

/** Answers browsers with a page if no route matches. API clients get the problem as JSON. */
export class NotFoundPage implements MiddlewareClass {
  #build: AppBuild
  #installation: Installation

  constructor(build: AppBuild, installation: Installation) {
    this.#build = build
    this.#installation = installation
  }

  async handle(context: MiddlewareContext, next: () => Promise<unknown>): Promise<void> {
    try {
      await next()
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'no-such-address' && wantsPage(context))) throw error
      const { html, headers } = shellPage({
        state: await this.#build.state(),
        base: basePath(this.#installation),
        cookie: context.get('cookie'),
        acceptLanguage: context.get('accept-language'),
      })
      context.status = 404
      context.body = html
      context.set('content-type', 'text/html; charset=utf-8')
      for (const [name, value] of Object.entries({ ...headers, ...isolation })) context.set(name, value)
    }
  }
}
wire(NotFoundPage, AppBuild, Installation)

/** As of pages with a route: they apply until the browser loads another one, since links within the interface load none. */
const isolation = {
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
} as const

const wantsPage = (context: MiddlewareContext): boolean =>
  (context.method === 'GET' || context.method === 'HEAD') &&
  !/^\/(?:api|web)(?:\/|$)/.test(context.path) &&
  /\btext\/html\b/.test(context.get('accept'))
