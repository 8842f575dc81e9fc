import type { ExecutionContext } from 'ava'
import type { Callers, Installation, Metrics, Policy, Route } from 'pounce/sdk'
import { PermissionCatalog } from 'pounce/sdk/kit'
import { silent } from 'pounce/sdk/testing'
import { Container } from '../../kernel/container.ts'
import type { HttpOptions } from '../app.ts'
import { type HttpConfig, httpConfig } from '../config.ts'
import type { Http } from '../server.ts'
import { createHttp } from '../server.ts'
import { checkAnswers } from './answer-check.ts'

/** Options of a test server. */
export interface ServeOptions {
  readonly policy?: Policy
  readonly callers?: Callers
  readonly config?: Partial<HttpConfig>
  readonly options?: Partial<HttpOptions>
}

const quiet = (): void => undefined
const metrics: Metrics = { count: quiet, gauge: quiet, observe: quiet }

const installation: Installation = {
  instance: 'abcdefghij',
  version: '1.2.3',
  dataFolder: '/nowhere',
  baseUrl: 'https://data.example.org',
  plugins: [],
  roles: new Set(['http']),
  admins: [],
  permissions: new PermissionCatalog(),
}

/** The default values of a settings schema. */
export const defaultsOf = (schema: unknown): unknown => {
  const { properties, default: value } = schema as { readonly properties?: Readonly<Record<string, unknown>>; readonly default?: unknown }
  if (!properties) return value
  return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, defaultsOf(each)]))
}

/** The parts of a server, with services that log nothing. */
export const httpOptions = (routes: Readonly<Record<string, Route>>, given: ServeOptions = {}): HttpOptions => {
  let last = 0
  return {
    routes: Object.entries(routes).map(([name, route]) => ({ plugin: 'resources.test', name, route, needs: {} })),
    config: { ...(defaultsOf(httpConfig) as HttpConfig), port: 0, ...given.config },
    log: silent,
    metrics,
    ids: { next: () => (last++).toString(16).padStart(24, '0') },
    readiness: async () => ({ ready: true, plugins: [{ id: 'resources.test', ok: true }] }),
    installation,
    openScope: values => new Container(new Map(), []).requestScope(values),
    ...(given.policy ? { policy: given.policy } : {}),
    ...(given.callers ? { callers: given.callers } : {}),
    ...given.options,
  }
}

/** A listening server with these routes, whose responses are checked; stopped after the test. */
export const serve = async (
  t: ExecutionContext,
  routes: Readonly<Record<string, Route>>,
  given: ServeOptions = {},
): Promise<{ url: string; port: number; http: Http }> => {
  checkAnswers()
  const http = createHttp(httpOptions(routes, given))
  const { url, port } = await http.listen()
  t.teardown(() => http.drain(0))
  return { url, port, http }
}
