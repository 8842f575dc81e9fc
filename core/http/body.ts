import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { parse as parseContentType } from 'content-type'
import type { Context, Middleware as KoaMiddleware } from 'koa'
import { type Caller, Invalid, type SentBytes, type s, TooLarge, Unsupported } from 'pounce/sdk'
import { type ByteBody, defaultJsonLimits, type JsonLimits, parseJson, Semaphore, youngGeneration } from 'pounce/sdk/kit'
import type { HttpConfig } from './config.ts'
import { MultipartReader } from './multipart.ts'
import type { Middleware, RequestContext } from './request-context.ts'
import type { Declaration, RegisteredRoute } from './router.ts'
import { isSchema } from './validate.ts'

/** A JSON body. */
export interface JsonBody {
  /** Undefined if there was no body. */
  readonly value: unknown
  /** Releases the semaphores of a large body; called after its request has been handled. */
  release(): void
}

const noBody: JsonBody = { value: undefined, release: () => undefined }

/** The settings used here. */
export type JsonConfig = Pick<HttpConfig, 'maxJsonBytes' | 'maxAnonymousJsonBytes' | 'maxJsonMembers' | 'maxJsonLeaves' | 'largeJson'>

/**
 * Reads JSON request bodies. Large ones wait for one semaphore before they are read and for another before they are parsed and processed,
 * so that they cannot exhaust memory or block the event loop.
 */
export class JsonBodies {
  readonly #config: JsonConfig
  readonly #reading: Semaphore
  readonly #working: Semaphore

  constructor(config: JsonConfig) {
    this.#config = config
    const { maxReading, maxWorking, maxWaiting, maxWaitMs } = config.largeJson
    const queue = { maxWaiting, maxWaitMs, refusal: 'Too many large JSON bodies at once' }
    this.#reading = new Semaphore({ max: maxReading, queue })
    this.#working = new Semaphore({ max: maxWorking, queue })
  }

  /**
   * Throws `Unsupported` for another media type, charset or coding, `TooLarge` beyond a limit, `Invalid` for JSON that is malformed, too deep or has
   * a prototype key, `Unavailable` if too many large bodies are waiting.
   */
  async read(context: Context, request: RequestContext, declaration: Declaration): Promise<JsonBody> {
    const { headers } = request.req
    if (isAbsent(headers)) return noBody
    const length = headers['content-length']
    requireJson(headers['content-type'], headers['content-encoding'])
    const limits = this.#limitsOf(declaration, request.caller)
    if (Number(length) > limits.maxBytes) throw tooLarge(limits.maxBytes)
    // A body without Content-Length may reach the limit.
    const isLarge = (length === undefined ? limits.maxBytes : Number(length)) > this.#config.largeJson.bytes
    if (isLarge) return this.#readLarge(context, request, limits, declaration.isLong ?? false)
    request.invite()
    return { ...noBody, value: parsed(await bytesOf(context, limits.maxBytes), limits) }
  }

  async #readLarge(context: Context, request: RequestContext, limits: JsonLimits, isLong: boolean): Promise<JsonBody> {
    const releases = [await this.#reading.acquire(request.signal)]
    let parsedBytes = 0
    const release = (): void => {
      for (const each of releases.splice(0)) each()
      youngGeneration.parsed(parsedBytes)
      parsedBytes = 0
    }
    try {
      request.invite()
      const bytes = await bytesOf(context, limits.maxBytes)
      youngGeneration.passed(bytes.length)
      if (bytes.length > this.#config.largeJson.bytes) releases.push(await this.#working.acquire(request.signal))
      // Yield to other requests between the steps.
      await setImmediate()
      parsedBytes = bytes.length
      const value = parsed(bytes, limits)
      await setImmediate()
      // A handler that waits for other services must not block shorter requests.
      if (isLong) release()
      return { value, release }
    } catch (error) {
      release()
      throw error
    }
  }

  #limitsOf({ maxBodyBytes, jsonLimits }: Declaration, caller: Caller): JsonLimits {
    const { maxJsonBytes, maxJsonMembers, maxJsonLeaves, maxAnonymousJsonBytes } = this.#config
    const ofAnybody = caller.via === 'nothing' ? maxAnonymousJsonBytes : Number.POSITIVE_INFINITY
    const { maxDepth } = defaultJsonLimits
    return {
      maxDepth,
      maxMembers: maxJsonMembers,
      maxLeaves: maxJsonLeaves,
      ...jsonLimits,
      maxBytes: Math.min(maxBodyBytes ?? maxJsonBytes, ofAnybody),
    }
  }
}

const isAbsent = ({ 'transfer-encoding': coding, 'content-length': length }: IncomingHttpHeaders): boolean =>
  coding === undefined && (length === undefined || length === '0')

const requireJson = (contentType: string | undefined, coding: string | undefined): void => {
  const { type, parameters } = parseContentType(contentType ?? '')
  if (!/^(?:application\/json|text\/json|application\/[\w.-]+\+json)$/.test(type)) {
    throw new Unsupported('Expecting text/json or application/json body')
  }
  const charset = parameters['charset']?.toLowerCase() ?? 'utf-8'
  if (charset !== 'utf-8' && charset !== 'utf8' && charset !== 'us-ascii') throw new Unsupported('JSON must be in UTF-8')
  if (coding !== undefined && coding !== 'identity')
    throw new Unsupported('Compressed bodies are not supported: send it without Content-Encoding')
}

const tooLarge = (maxBytes: number): TooLarge => new TooLarge(`The body must be at most ${maxBytes} bytes of JSON`)

const blank = /^[ \t\r\n]{0,100}$/

const parsed = (bytes: Buffer, limits: JsonLimits): unknown =>
  bytes.length <= 100 && blank.test(bytes.toString('latin1')) ? undefined : parseJson(bytes, limits, 'The body')

const bytesOf = async (context: Context, maxBytes: number): Promise<Buffer> => {
  const parse = await parserFor(maxBytes)
  try {
    await parse(context, async () => undefined)
  } catch (error) {
    throw refusal(error, maxBytes)
  }
  const { request } = context as unknown as { request: { body: Buffer | undefined } }
  const { body = Buffer.alloc(0) } = request
  request.body = undefined
  return body
}

const parsers = new Map<number, Promise<KoaMiddleware>>()

/**
 * koa-body is slow to load, so it is loaded for the first body. As text without an encoding it leaves the bytes unchanged: JSON that it parsed itself
 * would not have been counted, and decoding would lose invalid UTF-8.
 */
const parserFor = (textLimit: number): Promise<KoaMiddleware> => {
  let parser = parsers.get(textLimit)
  if (!parser) {
    parser = import('koa-body').then(({ koaBody, HttpMethodEnum: { POST, PUT, PATCH, DELETE } }) =>
      koaBody({
        textLimit,
        text: true,
        // The media type has already been checked.
        textTypes: ['*/*'],
        encoding: '',
        json: false,
        urlencoded: false,
        parsedMethods: [POST, PUT, PATCH, DELETE],
      }),
    )
    parsers.set(textLimit, parser)
  }
  return parser
}

const refusal = (error: unknown, maxBytes: number): unknown => {
  if (!(error instanceof Error)) return error
  const type = 'type' in error ? error.type : undefined
  if (type === 'entity.too.large') return tooLarge(maxBytes)
  if (type === 'request.aborted' || type === 'request.size.invalid') return new Invalid('Unexpected end of the body')
  return error
}

/** Whether a route declares its body as plain bytes. */
export const isByteBody = (body: unknown): body is ByteBody => typeof body === 'object' && body !== null && 'byteBody' in body

/** The request body as bytes for the handler. Throws `Unsupported` for another media type than the declared one. */
class RequestBody implements SentBytes {
  readonly sizeBytes: number | undefined
  readonly isPresent: boolean
  readonly #request: RequestContext
  #stream: Readable | undefined

  constructor(request: RequestContext, { contentType, isOptional }: ByteBody) {
    const { headers } = request.req
    const length = headers['content-length']
    const isChunked = headers['transfer-encoding'] !== undefined
    this.isPresent = isChunked || (length !== undefined && length !== '0')
    this.sizeBytes = isChunked ? undefined : Number(length ?? 0)
    this.#request = request
    const coding = headers['content-encoding']
    if (coding !== undefined && coding !== 'identity')
      throw new Unsupported('Compressed bodies are not supported: send it without Content-Encoding')
    if (
      contentType !== undefined &&
      (this.isPresent || !isOptional) &&
      parseContentType(headers['content-type'] ?? '').type !== contentType
    ) {
      throw new Unsupported(`The body must have the Content-Type ${contentType}`)
    }
  }

  open(): Readable {
    this.#stream ??= new BodyStream(this.#request)
    return this.#stream
  }
}

const ignore = (): void => undefined

/**
 * Wraps Node's stream for handlers, because destroying that one would close the connection and lose the response. When this stream is destroyed,
 * the rest of the body is read by whatever ends the response.
 */
class BodyStream extends Readable {
  readonly #request: RequestContext

  constructor(request: RequestContext) {
    super({ highWaterMark: 64 * 1024 })
    this.#request = request
    const { req } = request
    // An error may occur before there is a listener; readers still get it.
    this.on('error', ignore)
    const cut = (): void => {
      if (!req.complete) this.destroy(new Invalid('Unexpected end of the body'))
    }
    req.on('data', this.#take)
    req.on('end', this.#end)
    req.on('error', cut)
    req.on('close', cut)
    if (req.destroyed) cut()
    else request.invite()
  }

  readonly #take = (chunk: Buffer): void => {
    youngGeneration.passed(chunk.length)
    if (!this.push(chunk)) this.#request.req.pause()
  }

  readonly #end = (): void => {
    this.push(null)
  }

  override _read(): void {
    this.#request.req.resume()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    const { req } = this.#request
    req.off('data', this.#take)
    req.off('end', this.#end)
    req.pause()
    callback(error)
  }
}

/** The members of a multipart declaration that are read here. */
interface MultipartBody {
  readonly maxParts?: number
}

/** Reads the body that the route declares: JSON completely and validated, parts and bytes as streams for the handler. */
export const readBody =
  (bodies: JsonBodies): Middleware =>
  (context, next) => {
    const { request } = context.state
    const { declaration } = request.route as RegisteredRoute
    if (declaration.body !== undefined) return withBody(bodies, context, declaration.body, next)
    request.admission?.begin()
    return next()
  }

const withBody = async (bodies: JsonBodies, context: Context, declared: unknown, next: () => Promise<unknown>): Promise<void> => {
  const request = context.state['request'] as RequestContext
  const { value, release } = await bodyOf(bodies, context, request, declared)
  try {
    request.body = value
    request.admission?.begin()
    await next()
  } finally {
    release()
  }
}

/** A missing body is an empty object, except for unions, where the object would be stored as if it had been sent. */
const absentBody = (declared: s.TSchema): unknown => ('anyOf' in declared ? undefined : {})

const bodyOf = async (bodies: JsonBodies, context: Context, request: RequestContext, declared: unknown): Promise<JsonBody> => {
  const { declaration, checks } = request.route as RegisteredRoute
  if (isByteBody(declared)) return { ...noBody, value: new RequestBody(request, declared) }
  if (!isSchema(declared)) {
    // Clients without files send neither a body nor a media type: the handler reports what is missing.
    if (isAbsent(request.req.headers) && request.req.headers['content-type'] === undefined) return { ...noBody, value: Readable.from([]) }
    return { ...noBody, value: new MultipartReader(request, (declared as unknown as MultipartBody).maxParts ?? 1000) }
  }
  const { value: sent, release } = await bodies.read(context, request, declaration)
  try {
    const { value, fault } = checks.body(sent === undefined ? absentBody(declared) : sent)
    if (fault) throw new Invalid(fault.message)
    return { value, release }
  } catch (error) {
    release()
    throw error
  }
}
