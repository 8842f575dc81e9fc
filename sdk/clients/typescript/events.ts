import type { ApiConnection } from './client.ts'
import { PounceProblem, pause } from './problem.ts'

/** Which events to receive, and from when. Multiple values of one filter are alternatives. */
export interface EventOptions {
  readonly kind?: readonly string[]
  readonly id?: readonly string[]
  readonly space?: readonly string[]
  /** `file.created`, `file.*` … */
  readonly type?: readonly string[]
  readonly mine?: boolean
  /** A time (ISO 8601) or an event id: events since then are sent first. */
  readonly since?: string
  readonly signal?: AbortSignal
  /** Called whenever the stream is open: initially and after each reconnect. */
  readonly onOpen?: () => void
}

/** A message of a server-sent event stream. */
interface Message {
  readonly id: string | undefined
  readonly retryMs: number | undefined
  readonly data: string
}

const messageOf = (lines: readonly string[]): Message => {
  const valuesOf = (field: string): readonly string[] =>
    lines.flatMap(line => (line.startsWith(`${field}:`) ? [line.slice(field.length + 1).replace(/^ /, '')] : []))
  const retry = Number(valuesOf('retry').at(-1) ?? Number.NaN)
  return { id: valuesOf('id').at(-1), retryMs: Number.isInteger(retry) ? retry : undefined, data: valuesOf('data').join('\n') }
}

/** Heartbeats are more frequent; a connection without any is dead. */
const maxSilenceMs = 120_000

async function* messagesIn(body: ReadableStream<Uint8Array>): AsyncGenerator<Message> {
  let rest = ''
  let lines: string[] = []
  const decoder = new TextDecoder()
  const reader = body.getReader()
  const isSilent = (): void => void reader.cancel()
  try {
    for (;;) {
      const silence = setTimeout(isSilent, maxSilenceMs)
      const { done, value } = await reader.read().finally(() => clearTimeout(silence))
      if (done) return
      const parts = `${rest}${decoder.decode(value, { stream: true })}`.split('\n')
      rest = parts.pop() ?? ''
      for (const part of parts) {
        const line = part.replace(/\r$/, '')
        if (line !== '') lines.push(line)
        else if (lines.length > 0) {
          yield messageOf(lines)
          lines = []
        }
      }
    }
  } finally {
    // Closes the connection when the consumer stops iterating.
    await reader.cancel()
  }
}

/** Live events. Reconnects with the id of the last event, until the signal is aborted or the credential is no longer valid. */
export async function* events(
  connection: ApiConnection,
  { signal, onOpen, ...filters }: EventOptions,
): AsyncGenerator<unknown, void, undefined> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(filters))
    for (const each of [value].flat()) if (each !== undefined) query.append(name, String(each))
  let last: string | undefined
  let retryMs = 2000
  let failed = 0
  while (!signal?.aborted) {
    try {
      const response = await connection.send('GET', `/api/live?${query}`, {
        headers: { accept: 'text/event-stream, application/problem+json', ...(last === undefined ? {} : { 'last-event-id': last }) },
        ...(signal ? { signal } : {}),
      })
      onOpen?.()
      failed = 0
      for await (const message of messagesIn(response.body as ReadableStream<Uint8Array>)) {
        last = message.id ?? last
        retryMs = message.retryMs ?? retryMs
        if (message.data === '') continue
        const event = JSON.parse(message.data) as { readonly type?: string; readonly data?: { readonly reason?: string } }
        yield event
        if (event.type === 'stream.closed' && event.data?.reason !== 'shutdown') return
      }
    } catch (error) {
      if (signal?.aborted) return
      // Connection failures are errors of the platform; a JSON error comes from the server.
      if (
        error instanceof SyntaxError ||
        (error instanceof PounceProblem && error.status !== 0 && error.status !== 429 && error.status < 500)
      )
        throw error
      failed++
    }
    await pause(Math.min(retryMs * 2 ** Math.min(failed, 5), 60_000), signal)
  }
}
