import { randomUUID } from 'node:crypto'
import { subscribe } from 'node:diagnostics_channel'
import { appendFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Loaded by ava into every worker, before its test file. With `POUNCE_TEST_HITS`, a folder, it records the outcomes of the reference's routes on the
 * servers of this worker, each once, in a separate file per worker to avoid conflicts.
 */
export default async (): Promise<void> => {
  const folder = process.env['POUNCE_TEST_HITS']
  if (folder === undefined) return
  const [{ default: test }, { RouteMatcher }, { nameOf, referenceRoutes }, { outcomeOf }] = await Promise.all([
    import('ava'),
    import('./route-shape.ts'),
    import('./reference-routes.ts'),
    import('./hits.ts'),
  ])
  const matcher = new RouteMatcher(referenceRoutes())
  const root = fileURLToPath(new URL('../../', import.meta.url))
  const file = relative(root, fileURLToPath(test.meta.file)).replaceAll('\\', '/')
  const target = join(folder, `${randomUUID()}.jsonl`)
  const seen = new Set<string>()
  subscribe('http.server.response.finish', message => {
    const { request, response } = message as { readonly request: IncomingMessage; readonly response: ServerResponse }
    const outcome = outcomeOf(response.statusCode)
    const route = matcher.find(request.method ?? '', (request.url ?? '').replace(/\?.*$/s, ''))
    if (outcome === undefined || route === undefined) return
    const line = JSON.stringify({ route: nameOf(route), outcome, file })
    if (seen.has(line)) return
    seen.add(line)
    appendFileSync(target, `${line}\n`)
  })
}
