import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { Invalid, type SentBytes, TooLarge, Unsupported } from 'pounce/sdk'
import { numberOf } from '../input.ts'
import { readBulkJson } from './bulk-json.ts'
import { ByteBuffer } from './byte-buffer.ts'
import { pointLines, type SentPoint } from './point-lines.ts'

/** Points as they were sent, some at a time, and the stream of those that name none. */
export interface BulkBody {
  readonly stream?: number
  readonly points: AsyncIterable<readonly SentPoint[]>
}

const maxJsonBytes = 16 * 1024 * 1024
const jsonTypes = /^(?:application\/json|text\/json|application\/[\w.-]+\+json)$/
const lineTypes = /^application\/(?:x-ndjson|ndjson|jsonl|x-jsonlines)$/

const tooLarge = (): TooLarge =>
  new TooLarge(`At most ${maxJsonBytes} bytes of JSON: send more datapoints as newline-delimited JSON (application/x-ndjson)`)

const jsonText = async (body: SentBytes): Promise<string> => {
  if ((body.sizeBytes ?? 0) > maxJsonBytes) throw tooLarge()
  const carry = new ByteBuffer()
  for await (const chunk of body.open() as AsyncIterable<Buffer>) {
    carry.add(chunk)
    if (carry.length > maxJsonBytes) throw tooLarge()
  }
  const bytes = carry.take()
  if (!isUtf8(bytes)) throw new Invalid('The body is not UTF-8')
  const text = bytes.toString('utf8')
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

async function* numbered(texts: readonly string[]): AsyncGenerator<readonly SentPoint[]> {
  const atOnce = 250
  for (let at = 0; at < texts.length; at += atOnce) yield texts.slice(at, at + atOnce).map((text, more) => ({ line: at + more + 1, text }))
}

const typeOf = (header: string | undefined): string => {
  const [type = '', ...parameters] = (header ?? '').toLowerCase().split(';')
  const charset = parameters.map(each => each.trim()).find(each => each.startsWith('charset='))
  if (charset !== undefined && !/^charset="?(?:utf-?8|us-ascii)"?$/.test(charset)) throw new Unsupported('Datapoints must be in UTF-8')
  return type.trim()
}

const streamIn = (sent: unknown): { readonly stream: number } | Record<never, never> => {
  if (sent === undefined || sent === null) return {}
  const stream = typeof sent === 'string' || typeof sent === 'number' ? numberOf(sent) : undefined
  if (stream === undefined) throw new Invalid('stream_id must be the number of a stream, such as "5"')
  return { stream }
}

/** Opens the body of a bulk. A stream in the query stands for all points that name none; one beside the points goes before it. */
export const openBulk = async (body: SentBytes, headers: IncomingHttpHeaders, inQuery: string | undefined): Promise<BulkBody> => {
  const type = typeOf(headers['content-type'])
  const named = streamIn(inQuery)
  if (lineTypes.test(type)) return { ...named, points: pointLines(body.open() as AsyncIterable<Buffer>) }
  if (!jsonTypes.test(type))
    throw new Unsupported('Expecting text/json or application/json body, or newline-delimited JSON as application/x-ndjson')
  const { points, stream } = readBulkJson(await jsonText(body))
  return { ...named, ...streamIn(stream), points: numbered(points) }
}
