import { Agent, request } from 'node:http'

/** One request, as far as the matrix varies it. */
export interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer
}

/** What came back, read to its end. */
export interface Got {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

export type Wire = (sent: Sent) => Promise<Got>

/** Sends over connections that stay open: a tenth of the cost of `fetch`, which counts for a hundred thousand requests. */
export const openWire = (url: () => string): { readonly send: Wire; close(): void } => {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const send: Wire = ({ method, path, headers, body }) =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(body.length) }
      const asked = request(url() + path, { agent, method, headers: { ...headers, ...length }, timeout: 20_000 }, answer => {
        const chunks: Buffer[] = []
        const isStream = answer.headers['content-type'] === 'text/event-stream'
        const end = (): void => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString(), headers: answer.headers })
        answer.on('data', (chunk: Buffer) => {
          chunks.push(chunk)
          // A stream of events has no end: that it began is the answer.
          if (isStream) answer.destroy()
        })
        answer.on(isStream ? 'close' : 'end', end)
        answer.on('error', reject)
      })
      asked.on('timeout', () => asked.destroy(new Error(`No answer to ${method} ${path} in 20 s`)))
      asked.on('error', reject)
      asked.end(body)
    })
  return { send, close: () => agent.destroy() }
}
