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
      for (const [name, value] of Object.entries(headers)) context.set(name, value)
    }
  }
}
wire(NotFoundPage, AppBuild, Installation)

const wantsPage = (context: MiddlewareContext): boolean =>
  (context.method === 'GET' || context.method === 'HEAD') &&
  !/^\/(?:api|web)(?:\/|$)/.test(context.path) &&
  /\btext\/html\b/.test(context.get('accept'))
