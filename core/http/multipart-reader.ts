import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import type { Dicer } from '@fastify/busboy'
import { type FieldPart, type FilePart, Invalid, TooLarge, Unsupported, youngGarbage } from 'pounce/sdk'
import type { Exchange } from './exchange.ts'
import { loadBusboy } from './lean-modules.ts'
import { parseHeader } from './media-type.ts'
import { PartBytes } from './part-bytes.ts'
import { type PartHeader, partHeader } from './part-header.ts'

type Part = FilePart | FieldPart
type RawHeader = Readonly<Record<string, readonly string[] | undefined>>

/** A place in the order of parts; a field takes it before its value is complete. */
interface Slot {
  part?: Part
}

const maxFieldBytes = 1024 * 1024
const maxHeaderBytes = 16 * 1024

/**
 * Reads a multipart body as it comes, with back-pressure: no more than a few hundred kilobytes are ever held. What is broken or cut short
 * ends the iteration and the open file with `Invalid`.
 */
export class MultipartReader implements AsyncIterableIterator<Part> {
  readonly #exchange: Exchange
  readonly #parser: Dicer
  readonly #maxParts: number
  readonly #slots: Slot[] = []
  readonly #files = new Set<PartBytes>()
  #count = 0
  #isHeaderDue = false
  #isFinished = false
  #isBodyRead = false
  #isStarted = false
  #fault: Error | undefined
  #current: PartBytes | undefined
  #wake: (() => void) | undefined

  /** Throws `Unsupported` when the body is not multipart. */
  constructor(exchange: Exchange, maxParts: number) {
    const { type, parameters } = parseHeader(exchange.req.headers['content-type'] ?? '')
    const boundary = parameters.get('boundary')
    if (type !== 'multipart/form-data') throw new Unsupported('Expecting multipart/form-data body')
    if (!boundary || boundary.length > 200) throw new Invalid('The Content-Type must name the boundary of the parts')
    const coding = exchange.req.headers['content-encoding']
    if (coding !== undefined && coding !== 'identity')
      throw new Unsupported('Compressed bodies are not read: send it without Content-Encoding')
    this.#exchange = exchange
    this.#maxParts = maxParts
    this.#parser = new (loadBusboy().Dicer)({ boundary, maxHeaderPairs: 50, maxHeaderSize: maxHeaderBytes } as ConstructorParameters<
      typeof Dicer
    >[0])
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Part, undefined>> {
    this.#start()
    // Who asks for the next part is done with this one.
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

  /** A handler that leaves its loop wants no more. */
  async return(): Promise<IteratorResult<Part, undefined>> {
    this.#current?.destroy()
    this.#exchange.req.unpipe()
    return { done: true, value: undefined }
  }

  #start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    const { req } = this.#exchange
    const tooShort = (): void => {
      if (!this.#isFinished || !this.#isBodyRead) this.#fail(new Invalid('The body ended before its last part was complete'))
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
    this.#exchange.invite()
    req.pipe(this.#parser)
    req.on('data', (chunk: Buffer) => youngGarbage.passed(chunk.length))
    // After `pipe`, whose own listener stops the reading: what follows the last part is read and dropped.
    this.#parser.on('finish', () => {
      if (this.#isHeaderDue) tooShort()
      this.#isFinished = true
      req.resume()
      this.#wake?.()
    })
  }

  #open(source: Readable): void {
    if (this.#isHeaderDue) this.#fail(new Invalid('A part of the body has no header'))
    this.#count += 1
    if (this.#count > this.#maxParts) this.#fail(new TooLarge(`The body must have at most ${this.#maxParts} parts`))
    // A part of which nobody wants anything must still pass, or the body stops here.
    source.on('error', () => undefined)
    this.#isHeaderDue = true
    source.on('header', (header: RawHeader) => {
      this.#isHeaderDue = false
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
    this.#exchange.req.unpipe(this.#parser)
    for (const file of this.#files) file.destroy(fault)
    this.#wake?.()
  }
}
