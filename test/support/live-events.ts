import type { CloudEvent } from 'pounce/sdk'
import { until } from './until.ts'

/** An open event stream. */
export interface Listener {
  readonly status: number
  readonly headers: Headers
  /** All events received so far. */
  readonly events: readonly CloudEvent[]
  /** The text as received. */
  readonly text: string
  /** The last event id, as in an EventSource. */
  readonly lastId: string
  readonly isEnded: boolean
  /** Resolves to the first matching event, once received. */
  first(what: string, fits: (event: CloudEvent) => boolean): Promise<CloudEvent>
  close(): void
}

/** Opens `/api/live` and reads it; resolves once the stream is connected. */
export const listen = async (url: string, key: string | undefined, query = '', headers: Record<string, string> = {}): Promise<Listener> => {
  const stop = new AbortController()
  const answer = await fetch(`${url}/api/live${query}`, {
    headers: { ...(key === undefined ? {} : { 'x-api-key': key }), ...headers },
    signal: stop.signal,
  })
  const seen = { text: '', lastId: '', isEnded: false, events: [] as CloudEvent[] }
  let pending = ''
  const take = (block: string): void => {
    const data: string[] = []
    for (const line of block.split('\n')) {
      if (line.startsWith('id: ')) seen.lastId = line.slice(4)
      if (line.startsWith('data: ')) data.push(line.slice(6))
    }
    if (data.length > 0) seen.events.push(JSON.parse(data.join('\n')) as CloudEvent)
  }
  const read = async (): Promise<void> => {
    try {
      const decoder = new TextDecoder()
      for await (const bytes of answer.body ?? []) {
        const text = decoder.decode(bytes as Uint8Array, { stream: true })
        seen.text += text
        pending += text
        const blocks = pending.split('\n\n')
        pending = blocks.pop() ?? ''
        for (const block of blocks) take(block)
      }
    } catch {
      // Closed by either side.
    }
    seen.isEnded = true
  }
  void read()
  if (answer.status === 200) await until('the stream to be connected', () => seen.text.includes(': connected'))
  return {
    status: answer.status,
    headers: answer.headers,
    get events() {
      return seen.events
    },
    get text() {
      return seen.text
    },
    get lastId() {
      return seen.lastId
    },
    get isEnded() {
      return seen.isEnded
    },
    first: async (what, fits) => (await until(what, () => seen.events.find(fits))) as CloudEvent,
    close: () => stop.abort(),
  }
}

/** Matches events of a type, and of a resource if one is given. */
export const of =
  (type: string, id?: string) =>
  (event: CloudEvent): boolean =>
    event.type === type && (id === undefined || event.data['id'] === id)
