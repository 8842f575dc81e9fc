import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { MiddlewarePhase } from 'pounce/sdk'
import type { Middleware } from './request-context.ts'
import type { ResponseWriter } from './response-writer.ts'
import type { PhasedMiddleware } from './types.ts'

/** The middleware of plugins in one phase. */
export const ofPlugins = (middleware: readonly PhasedMiddleware[], phase: MiddlewarePhase): readonly Middleware[] =>
  middleware.filter(one => one.phase === phase).map(({ use }) => use as Middleware)

/** Sends what the middleware of a plugin answered in Koa's way, with the headers that all responses have. Nothing where there is none. */
export const respondOfPlugins = (middleware: readonly PhasedMiddleware[], writer: ResponseWriter): readonly Middleware[] =>
  middleware.length === 0
    ? []
    : [
        async (context, next) => {
          const { request } = context.state
          // Koa's own counts no proxies.
          context.request.ip = request.address
          await next()
          if (request.head) return
          request.isPluginAnswer = true
          const { status, body, message } = context
          if (body instanceof Readable) {
            writer.head(request, status, {})
            await pipeline(body, request.res)
          } else {
            const isSendable = typeof body === 'string' || Buffer.isBuffer(body)
            writer.send(request, status, {}, isSendable ? body : body == null ? message : JSON.stringify(body))
          }
        },
      ]
