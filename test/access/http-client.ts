import { Agent, request } from 'node:http'

/** The parts of a request that the matrix varies. */
export interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer
}

/** A complete response. */
export interface Got {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

export type HttpClient = (sent: Sent) => Promise<Got>

/** Sends requests over keep-alive connections: a tenth of the cost of `fetch`, which matters for a hundred thousand requests. */
export const openHttpClient = (url: () => string): { readonly send: HttpClient; close(): void } => {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const send: HttpClient = ({ method, path, headers, body }) =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(body.length) }
      const requested = request(url() + path, { agent, method, headers: { ...headers, ...length }, timeout: 20_000 }, answer => {
        const chunks: Buffer[] = []
        const isStream = answer.headers['content-type'] === 'text/event-stream'
        const end = (): void => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString(), headers: answer.headers })
        answer.on('data', (chunk: Buffer) => {
          chunks.push(chunk)
          // An event stream never ends: its headers are the response.
          if (isStream) answer.destroy()
        })
        answer.on(isStream ? 'close' : 'end', end)
        answer.on('error', reject)
      })
      requested.on('timeout', () => requested.destroy(new Error(`No response to ${method} ${path} within 20 s`)))
      requested.on('error', reject)
      requested.end(body)
    })
  return { send, close: () => agent.destroy() }
}
