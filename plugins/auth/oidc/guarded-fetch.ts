import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { type Fetch, Unavailable } from 'pounce/sdk'

/** Discovery documents and key sets are a few kB. */
const maxBytes = 512 * 1024

interface FetchInit {
  readonly method: string
  readonly headers: ConstructorParameters<typeof Headers>[0]
  readonly body?: unknown
}

/** The fetch function that the libraries take. */
export type LibraryFetch = (url: string, init: FetchInit) => Promise<Response>

const textOf = (body: unknown): string | undefined => {
  if (body === undefined || body === null) return undefined
  if (typeof body === 'string' || body instanceof URLSearchParams) return String(body)
  throw new TypeError('a request to a provider has a body of text')
}

/** Fetches only from servers named in the configuration, with limits; every failure becomes `Unavailable`. */
export const fetchAt =
  (fetch: Fetch, origins: ReadonlySet<string>, timeoutMs: number): LibraryFetch =>
  async (address, { method, headers, body }) => {
    const { origin, pathname, search } = new URL(address)
    if (!origins.has(origin)) throw new Unavailable(`${origin} is neither the issuer nor in alsoAt`)
    const text = textOf(body)
    const sent = text === undefined ? {} : { body: { stream: Readable.from([text]), sizeBytes: Buffer.byteLength(text), maxBytes } }
    try {
      const where = { path: pathname === '/' ? '' : pathname, search }
      const limits = { maxBytes, timeoutMs }
      const answer = await fetch.below(origin, where, { method, headers: Object.fromEntries(new Headers(headers)), ...limits, ...sent })
      const bytes = await buffer(answer.body)
      return new Response(hasBody(answer.status) ? new Uint8Array(bytes) : null, {
        status: answer.status,
        headers: { 'content-type': answer.contentType },
      })
    } catch (cause) {
      throw new Unavailable(`Unexpected response from ${origin}`, { cause })
    }
  }

const hasBody = (status: number): boolean => status !== 204 && status !== 205 && status !== 304
