import { type Route, routesFor, s } from 'pounce/sdk'

const route = routesFor('things', {})

/** Public routes without dependencies, for tests of the middleware before the handler. */
export const plainRoutes = {
  hello: route({
    method: 'GET',
    path: '/hello',
    summary: 'x',
    permission: 'anyone',
    responses: { 200: s.text() },
    handle: async () => ({ status: 200, body: 'hello' }),
  }),
  echo: route({
    method: 'POST',
    path: '/echo',
    summary: 'x',
    permission: 'anyone',
    body: s.json(),
    responses: { 200: s.json() },
    handle: async ({ body }) => ({ status: 200, body }),
  }),
} satisfies Record<string, Route>
