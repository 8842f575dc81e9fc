import type { TestFetch } from 'pounce/sdk/testing'

/** A response, with its body parsed if it is JSON. */
export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly headers: Headers
}

const answerOf = async (response: Response): Promise<Answer> => {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') ?? false
  return { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers }
}

/** Shorthands for calls: `const { get, post } = callsOf(person.call)`. */
export const callsOf = (call: TestFetch) => {
  const send = (method: string) => async (path: string, json?: unknown) => answerOf(await call(path, { method, json }))
  return { get: send('GET'), post: send('POST'), put: send('PUT'), remove: send('DELETE') }
}

export type Calls = ReturnType<typeof callsOf>

/** The id in the response of a call that creates a resource; throws for any other response. */
export const idOf = async (answer: Promise<Answer>): Promise<string> => {
  const { status, body } = await answer
  const id = (body as { id?: unknown }).id
  if (status !== 200 || typeof id !== 'string') throw new Error(`${status} ${JSON.stringify(body)}`)
  return id
}

/** The ids of a list, in order; throws for any other response. */
export const idsOf = async (answer: Promise<Answer>): Promise<readonly string[]> => {
  const { status, body } = await answer
  if (status !== 200 || !Array.isArray(body)) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body.map(item => String((item as { id: unknown }).id))
}

/** Path and query of the next page, from a `Link` header. */
export const nextOf = ({ headers }: Answer): string | undefined => {
  const target = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
  if (target === undefined) return undefined
  const { pathname, search } = new URL(target, 'http://any')
  return pathname + search
}

/** Follows `Link` headers to the end; the ids of all pages, in order. */
export const allIds = async (get: Calls['get'], path: string): Promise<readonly string[]> => {
  const ids: string[] = []
  for (let next: string | undefined = path; next !== undefined; ) {
    const page: Answer = await get(next)
    ids.push(...(await idsOf(Promise.resolve(page))))
    next = nextOf(page)
  }
  return ids
}
