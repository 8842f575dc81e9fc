import type { TestFetch, TestServer } from 'pounce/sdk/testing'

/** A user with an account, a password and a key. */
export interface Person {
  readonly id: string
  readonly email: string
  readonly password: string
  readonly key: string
  /** Calls the API with the user's key. */
  readonly call: TestFetch
  /** Calls the API as the server admin. */
  readonly asAdmin: TestFetch
}

/** Number of users created per server: several test files may run in one process. */
const counts = new WeakMap<TestServer, number>()

/** Creates an account and an API key for it, over HTTP. */
export const newPerson = async (server: TestServer, name = 'person'): Promise<Person> => {
  const made = (counts.get(server) ?? 0) + 1
  counts.set(server, made)
  const email = `${name}${made}@example.org`
  const password = `secret of ${name} ${made}`
  const account = { email, password, firstName: name, lastName: `Number ${made}` }
  const answer = await server.as(server.admin.key)('/api/users', { method: 'POST', json: account })
  if (answer.status !== 200) throw new Error(await answer.text())
  const { id } = (await answer.json()) as { id: string }
  const key = await newKey(server, email, password)
  return { id, email, password, key, call: server.as(key), asAdmin: server.as(server.admin.key) }
}

/** The value of an `Authorization` header. */
export const basic = (email: string, password: string): string => `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`

/** Creates an API key of the account, over HTTP. */
export const newKey = async (server: TestServer, email: string, password: string, query = 'name=test'): Promise<string> => {
  const answer = await server.as()(`/api/users/keys?${query}`, { method: 'POST', headers: { authorization: basic(email, password) } })
  if (answer.status !== 200) throw new Error(await answer.text())
  return ((await answer.json()) as { key: string }).key
}

/** Signs in; resolves to the session cookie. */
export const signIn = async (server: TestServer, email: string, password: string, cookie?: string): Promise<string> => {
  const headers = cookie === undefined ? {} : { cookie }
  const answer = await server.as()('/api/login', { method: 'POST', json: { email, password }, headers })
  if (answer.status !== 200) throw new Error(await answer.text())
  return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
}

/** Calls the API like a browser on a page of the server itself. */
export const byCookie =
  (server: TestServer, cookie: string): TestFetch =>
  (path, init = {}) =>
    server.as()(path, { ...init, headers: { ...Object.fromEntries(new Headers(init.headers)), cookie, 'sec-fetch-site': 'same-origin' } })

/** The parts of an error response that do not vary between requests. */
export const refusal = async (answer: Response): Promise<Readonly<Record<string, unknown>>> => {
  const { requestId: _differs, ...rest } = (await answer.json()) as Record<string, unknown>
  return { httpStatus: answer.status, ...rest }
}
