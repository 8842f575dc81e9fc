import { isUtf8 } from 'node:buffer'
import type { Context, Middleware } from 'koa'
import { Invalid, requireTame, TooLarge, Unsupported } from 'pounce/sdk'
import type { Exchange } from './exchange.ts'
import { parseHeader } from './media-type.ts'

/**
 * Reads the JSON body of a request: undefined when there is none. Throws `Unsupported` for another media type, charset or coding,
 * `TooLarge` beyond the limit, `Invalid` for what is not JSON, too deep, or names a prototype.
 */
export const readJson = async (context: Context, exchange: Exchange, maxBytes: number): Promise<unknown> => {
  const { headers } = exchange.req
  const length = headers['content-length']
  if (headers['transfer-encoding'] === undefined && (length === undefined || length === '0')) return undefined
  requireJson(headers['content-type'], headers['content-encoding'])
  if (Number(length) > maxBytes) throw tooLarge(maxBytes)
  exchange.invite()
  const { text, value } = await parsed(context, exchange, maxBytes)
  if (text.trim() === '') return undefined
  requireTame(value, 'The body')
  return value
}

const requireJson = (contentType: string | undefined, coding: string | undefined): void => {
  const { type, parameters } = parseHeader(contentType ?? '')
  if (!/^(?:application\/json|text\/json|application\/[\w.-]+\+json)$/.test(type)) {
    throw new Unsupported('Expecting text/json or application/json body')
  }
  const charset = parameters.get('charset')?.toLowerCase() ?? 'utf-8'
  if (charset !== 'utf-8' && charset !== 'utf8' && charset !== 'us-ascii') throw new Unsupported('JSON must be in UTF-8')
  if (coding !== undefined && coding !== 'identity')
    throw new Unsupported('Compressed bodies are not read: send it without Content-Encoding')
}

const tooLarge = (maxBytes: number): TooLarge => new TooLarge(`The body must be at most ${maxBytes} bytes of JSON`)

interface Parsed {
  readonly text: string
  readonly value: unknown
}

const parsed = async (context: Context, { req }: Exchange, maxBytes: number): Promise<Parsed> => {
  const parse = await parserFor(maxBytes)
  const chunks: Buffer[] = []
  const keep = (chunk: Buffer): void => {
    chunks.push(chunk)
  }
  req.on('data', keep)
  try {
    await parse(context, async () => undefined)
  } catch (error) {
    throw refusal(error, maxBytes)
  } finally {
    req.off('data', keep)
  }
  const { body, rawBody } = context.request as unknown as { body: unknown; rawBody: string }
  // The decoder puts U+FFFD where bytes are no UTF-8; what was sent as U+FFFD is fine.
  if (rawBody.includes('\ufffd') && !isUtf8(Buffer.concat(chunks))) throw new Invalid('The body is not UTF-8')
  return { text: rawBody, value: body }
}

const parsers = new Map<number, Promise<Middleware>>()

/** koa-body takes long to load, so it is loaded for the first body that comes. */
const parserFor = (jsonLimit: number): Promise<Middleware> => {
  let parser = parsers.get(jsonLimit)
  if (!parser) {
    parser = import('koa-body').then(({ koaBody, HttpMethodEnum: { POST, PUT, PATCH, DELETE } }) =>
      koaBody({
        jsonLimit,
        jsonStrict: false,
        jsonTypes: ['json', '+json', 'text/json'],
        includeUnparsed: true,
        text: false,
        urlencoded: false,
        parsedMethods: [POST, PUT, PATCH, DELETE],
      }),
    )
    parsers.set(jsonLimit, parser)
  }
  return parser
}

const refusal = (error: unknown, maxBytes: number): unknown => {
  if (!(error instanceof Error)) return error
  const type = 'type' in error ? error.type : undefined
  if (type === 'entity.too.large') return tooLarge(maxBytes)
  if (type === 'request.aborted' || type === 'request.size.invalid') return new Invalid('The body ended too early')
  if (!(error instanceof SyntaxError)) return error
  if (error.message.includes('forbidden prototype'))
    return new Invalid('The body must not have members named __proto__, constructor or prototype')
  return new Invalid(`The body is not valid JSON: ${error.message}`)
}
