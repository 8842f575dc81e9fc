import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'

/** A request body, reopened for each attempt. */
export interface StreamedBody {
  readonly length: number
  open(): Readable
}

/** One request. Timeouts apply to an idle connection. */
export interface OutgoingRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer | StreamedBody
  /** Timeout for the response head after the request has been sent. */
  readonly answerTimeoutMs?: number
}

/** A response whose body has not been read yet. */
export interface IncomingResponse {
  readonly status: number
  /** The final URL after redirects. */
  readonly url: URL
  readonly message: IncomingMessage
  header(name: string): string | undefined
}

const silentMs = 60_000
const answerMs = 120_000
const maxRedirects = 5
const maxTextBytes = 64 * 1024 * 1024

// `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`: many institutes require a proxy.
const options = { keepAlive: true, maxSockets: 64, proxyEnv: process.env }
const agents = { http: new HttpAgent(options), https: new HttpsAgent(options) }

const isStream = (body: Buffer | StreamedBody | undefined): body is StreamedBody => body !== undefined && !Buffer.isBuffer(body)

const exchange = (url: URL, { method, headers, body, answerTimeoutMs = answerMs }: OutgoingRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const isSecure = url.protocol === 'https:'
    const length = body === undefined ? {} : { 'content-length': String(body.length) }
    const common = { method, headers: { ...headers, ...length } }
    const sent = isSecure ? requestHttps(url, { ...common, agent: agents.https }) : requestHttp(url, { ...common, agent: agents.http })
    const source = isStream(body) ? body.open() : undefined
    sent.setTimeout(silentMs)
    sent.on('timeout', () => sent.destroy(new Error('the connection timed out')))
    sent.on('error', error => {
      source?.destroy()
      reject(error)
    })
    sent.once('finish', () => sent.setTimeout(answerTimeoutMs))
    sent.once('response', message => {
      sent.setTimeout(silentMs)
      // A response before the body has been sent is a refusal: stop sending, and do not reuse the connection.
      if (source && !sent.writableEnded) {
        source.unpipe(sent)
        source.destroy()
        message.once('close', () => sent.destroy())
      }
      resolve(message)
    })
    if (source) {
      source.on('error', error => sent.destroy(error))
      source.pipe(sent)
    } else sent.end(body)
  })

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Sends a request. Follows redirects of GET, without sending the key to another origin. */
export const send = async (url: URL, request: OutgoingRequest): Promise<IncomingResponse> => {
  let at = url
  let headers = request.headers
  for (let count = 0; ; count += 1) {
    const message = await exchange(at, { ...request, headers })
    const { statusCode: status = 0 } = message
    const { location } = message.headers
    if (!redirects.has(status) || location === undefined || request.method !== 'GET') {
      const header = (name: string): string | undefined => {
        const value = message.headers[name]
        return Array.isArray(value) ? value[0] : value
      }
      return { status, url: at, message, header }
    }
    message.resume()
    if (count === maxRedirects) throw new Error(`more than ${maxRedirects} redirects`)
    const next = new URL(location, at)
    if (next.origin !== at.origin) headers = Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'x-api-key'))
    at = next
  }
}

/** The body as text. */
export const textOf = async ({ message }: IncomingResponse): Promise<string> => {
  let bytes = 0
  message.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > maxTextBytes) message.destroy(new Error(`the response has more than ${maxTextBytes} bytes`))
  })
  return text(message)
}
