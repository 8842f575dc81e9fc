import { isUtf8 } from 'node:buffer'
import { createRequire } from 'node:module'
import { Readable } from 'node:stream'
import type { Dicer } from '@fastify/busboy'
import { decodeExtended, parse as parseDisposition } from 'content-disposition'
import { parse as parseContentType } from 'content-type'
import { Invalid, TooLarge, Unsupported } from 'pounce/sdk'
import { type FieldPart, type FilePart, youngGeneration } from 'pounce/sdk/kit'
import { isMediaType } from './bytes-responder.ts'
import type { RequestContext } from './request-context.ts'

const require = createRequire(import.meta.url)

/** Loaded for the first multipart body to keep the start fast. */
const loadBusboy = (): typeof import('@fastify/busboy') => require('@fastify/busboy')

type Part = FilePart | FieldPart
type RawHeader = Readonly<Record<string, readonly string[] | undefined>>

/** A slot in the order of parts; a field reserves it before its value is complete. */
interface Slot {
  part?: Part
}

const maxFieldBytes = 1024 * 1024
/** Per part. */
const maxHeaderBytes = 16 * 1024
const maxHeaderLines = 50

/**
 * Reads a multipart body as a stream with back-pressure: buffers at most a few hundred kilobytes. A malformed or truncated body
 * ends the iteration and the open file with `Invalid`.
 */
export class MultipartReader implements AsyncIterableIterator<Part> {
  readonly #request: RequestContext
  readonly #parser: Dicer
  readonly #maxParts: number
  readonly #slots: Slot[] = []
  readonly #files = new Set<PartBytes>()
  #count = 0
  #isHeaderDue = false
  /** Bytes of consecutive chunks that were entirely inside one header. */
  #headerBytes = -1
  #isFinished = false
  #isBodyRead = false
  #isStarted = false
  #fault: Error | undefined
  #current: PartBytes | undefined
  #wake: (() => void) | undefined

  /** Throws `Unsupported` if the body is not multipart. */
  constructor(request: RequestContext, maxParts: number) {
    const { type, parameters } = parseContentType(request.req.headers['content-type'] ?? '')
    const boundary = parameters['boundary']
    if (type !== 'multipart/form-data') throw new Unsupported('Expecting multipart/form-data body')
    if (!boundary || boundary.length > 200) throw new Invalid('The Content-Type must name the boundary of the parts')
    const coding = request.req.headers['content-encoding']
    if (coding !== undefined && coding !== 'identity')
      throw new Unsupported('Compressed bodies are not supported: send it without Content-Encoding')
    this.#request = request
    this.#maxParts = maxParts
    // The parser silently truncates at its limits, so they are above the limits checked here.
    this.#parser = new (loadBusboy().Dicer)({
      ...{ boundary, maxHeaderPairs: maxHeaderLines + 1, maxHeaderSize: 64 * maxHeaderBytes },
    } as ConstructorParameters<typeof Dicer>[0])
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Part, undefined>> {
    this.#start()
    // Reading the next part discards the rest of this one.
    this.#current?.destroy()
    this.#current = undefined
    for (;;) {
      if (this.#fault) throw this.#fault
      if (this.#slots[0]?.part) {
        const { part } = this.#slots.shift() as Required<Slot>
        if (part.kind === 'file') this.#current = part.stream as PartBytes
        return { done: false, value: part }
      }
      if (this.#isFinished && this.#isBodyRead && this.#slots.length === 0) return { done: true, value: undefined }
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
  }

  /** Called when a handler leaves its loop early. */
  async return(): Promise<IteratorResult<Part, undefined>> {
    this.#current?.destroy()
    this.#request.req.unpipe()
    return { done: true, value: undefined }
  }

  #start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    const { req } = this.#request
    const tooShort = (): void => {
      if (!this.#isFinished || !this.#isBodyRead) this.#fail(new Invalid('Unexpected end of the body: its last part is incomplete'))
    }
    this.#parser.on('part', part => this.#open(part))
    this.#parser.on('error', tooShort)
    req.on('end', () => {
      this.#isBodyRead = true
      this.#wake?.()
    })
    req.on('error', tooShort)
    req.on('close', () => {
      if (!req.complete) tooShort()
    })
    if (req.destroyed) tooShort()
    this.#request.invite()
    req.pipe(this.#parser)
    req.on('data', (chunk: Buffer) => {
      youngGeneration.passed(chunk.length)
      // While the reader of a part is slow, chunks wait in the parser: they may contain the end of the header.
      if (this.#parser.writableLength === 0) this.#countHeader(chunk.length)
    })
    // Registered after `pipe`, whose own listener stops the reading: data after the last part is read and discarded.
    this.#parser.on('finish', () => {
      if (this.#isHeaderDue) tooShort()
      this.#isFinished = true
      req.resume()
      this.#wake?.()
    })
  }

  /** Refuses an endless header while it is being received. The first chunk is not counted, because it may begin with the content before the header. */
  #countHeader(length: number): void {
    if (!this.#isHeaderDue) this.#headerBytes = -1
    else if (this.#headerBytes < 0) this.#headerBytes = 0
    else this.#headerBytes += length
    if (this.#headerBytes > maxHeaderBytes) this.#fail(tooLargeHeader())
  }

  #open(source: Readable): void {
    if (this.#isHeaderDue) this.#fail(new Invalid('A part of the body has no headers'))
    this.#count += 1
    if (this.#count > this.#maxParts) this.#fail(new TooLarge(`The body must have at most ${this.#maxParts} parts`))
    // A part that is not consumed must still be read, or the body stalls.
    source.on('error', () => undefined)
    this.#isHeaderDue = true
    source.on('header', (header: RawHeader) => {
      this.#isHeaderDue = false
      this.#headerBytes = -1
      if (this.#fault) source.resume()
      else this.#take(source, header)
    })
  }

  #take(source: Readable, raw: RawHeader): void {
    try {
      const header = partHeader(raw)
      if (header.filename === undefined) this.#takeField(source, header)
      else this.#takeFile(source, header, header.filename)
    } catch (error) {
      source.resume()
      this.#fail(error as Error)
    }
  }

  #takeFile(source: Readable, { field, contentType }: PartHeader, filename: string): void {
    const stream = new PartBytes(source)
    this.#files.add(stream)
    stream.once('close', () => this.#files.delete(stream))
    const skip = (): void => {
      stream.destroy()
    }
    this.#slots.push({ part: { kind: 'file', field, filename, contentType, stream, skip } })
    this.#wake?.()
  }

  #takeField(source: Readable, { field }: PartHeader): void {
    const slot: Slot = {}
    this.#slots.push(slot)
    const chunks: Buffer[] = []
    let size = 0
    source.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= maxFieldBytes) chunks.push(chunk)
      else this.#fail(new TooLarge(`The field ${field} must be at most ${maxFieldBytes} bytes`))
    })
    source.on('end', () => {
      const bytes = Buffer.concat(chunks)
      if (!isUtf8(bytes)) this.#fail(new Invalid(`The field ${field} is not UTF-8`))
      slot.part = { kind: 'field', field, value: bytes.toString('utf8') }
      this.#wake?.()
    })
  }

  #fail(fault: Error): void {
    if (this.#fault) return
    this.#fault = fault
    this.#request.req.unpipe(this.#parser)
    for (const file of this.#files) file.destroy(fault)
    this.#wake?.()
  }
}

const ignore = (): void => undefined

/**
 * The bytes of a part for a handler. The parser's own stream ends normally even if the body is truncated;
 * this one is destroyed with the error instead.
 */
class PartBytes extends Readable {
  readonly #source: Readable

  constructor(source: Readable) {
    super({ highWaterMark: 64 * 1024 })
    this.#source = source
    source.on('data', (chunk: Buffer) => {
      if (!this.destroyed && !this.push(chunk)) source.pause()
    })
    source.on('end', () => {
      if (!this.destroyed) this.push(null)
    })
    source.on('error', ignore)
    // An error may occur before there is a listener; readers still get it.
    this.on('error', ignore)
  }

  override _read(): void {
    this.#source.resume()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    // The rest of the part must be read so that the body can continue.
    this.#source.resume()
    callback(error)
  }
}

/** Maximum length of the names of files and fields, in characters: a field with metadata of a file has its name. */
const maxNameLength = 255

/** The parsed header of a part. */
interface PartHeader {
  readonly field: string
  /** Absent for a field that is not a file. */
  readonly filename?: string
  readonly contentType: string
}

const tooLargeHeader = (): TooLarge =>
  new TooLarge(`The headers of a part must be at most ${maxHeaderBytes} bytes in ${maxHeaderLines} lines`)

/** Parses a part's header, given as Latin-1 (byte) strings by lower-case name. Throws `Invalid`, and `TooLarge` beyond the limits. */
const partHeader = (header: Readonly<Record<string, readonly string[] | undefined>>): PartHeader => {
  const lines = Object.entries(header).flatMap(([name, values = []]) => values.map(value => name.length + value.length + ': \r\n'.length))
  if (lines.length > maxHeaderLines || lines.reduce((sum, length) => sum + length, 0) > maxHeaderBytes) throw tooLargeHeader()
  const disposition = header['content-disposition']?.[0]
  if (disposition === undefined) throw new Invalid('Each part of the body needs a Content-Disposition header')
  const { type, parameters } = parseDisposition(quoted(disposition), { extended: false })
  const { name } = parameters
  if (type !== 'form-data' || name === undefined)
    throw new Invalid('Each part of the body needs Content-Disposition: form-data with a name')
  const field = unescaped(utf8(name))
  if (field.length > maxNameLength || /\p{Cc}/u.test(field)) {
    throw new Invalid(`The name of a part must be at most ${maxNameLength} characters without control characters`)
  }
  const declared = header['content-type']?.[0]?.trim()
  const contentType = declared && isMediaType(declared) ? declared : 'application/octet-stream'
  const sent = filenameIn(parameters)
  if (sent === undefined) return declared === 'application/octet-stream' ? { field, contentType, filename: '' } : { field, contentType }
  return { field, contentType, filename: safeName(sent) }
}

/** Clients that escape with backslashes only escape quotes and backslashes: the backslash in `C:\\report.doc` is literal. */
const quoted = (disposition: string): string =>
  disposition.replaceAll(/\\(.?)/g, (all, next: string) => (next === '"' || next === '\\' ? all : `\\\\${next}`))

/** Prefers the RFC 5987 form if it can be decoded: `filename*=UTF-8''na%C3%AFve.txt`. */
const filenameIn = ({ filename, 'filename*': extended }: Readonly<Record<string, string | undefined>>): string | undefined => {
  const plain = filename === undefined ? undefined : unescaped(utf8(filename))
  const sent = (extended === undefined ? undefined : decodeExtended(extended)) ?? plain
  if (sent === undefined && extended !== undefined) throw new Invalid('Invalid encoding of a file name: see RFC 5987')
  return sent
}

/**
 * HTML forms and most HTTP libraries send `"` as `%22`; other percent signs are literal (WHATWG Fetch, "multipart/form-data parser").
 * They also escape line breaks, which are not allowed in a name.
 */
const unescaped = (sent: string): string => sent.replaceAll('%22', '"')

const utf8 = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8')

/** The last segment of the name, because some browsers send a path. */
const safeName = (sent: string): string => {
  const name = sent.split(/[\\/]/).at(-1) ?? ''
  if (/\p{Cc}/u.test(name)) throw new Invalid('A file name must not contain control characters')
  if (name.length > maxNameLength) throw new Invalid(`A file name must be at most ${maxNameLength} characters`)
  if (name === '.' || name === '..') throw new Invalid(`A file cannot be named ${name}`)
  return name
}
