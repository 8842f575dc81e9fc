import { idOf, type PointRow, type PointSource, type Sink, seekCost, startOf, textLengthOf } from './scans.ts'

/** Concatenates sources. Each is created when its turn comes. */
export class ConcatSource implements PointSource {
  readonly #makers: Iterator<() => PointSource>
  #current: PointSource | undefined

  constructor(makers: Iterable<() => PointSource>) {
    this.#makers = makers[Symbol.iterator]()
    this.#advance()
  }

  get isDone(): boolean {
    return this.#current === undefined
  }

  #advance(): void {
    const { value, done } = this.#makers.next()
    this.#current = done ? undefined : value()
  }

  fill(sink: Sink, budget: number): number {
    let spent = 0
    while (this.#current !== undefined && sink.room > 0 && spent < budget) {
      spent += seekCost + this.#current.fill(sink, budget - spent)
      if (this.#current.isDone) this.#advance()
    }
    return spent
  }
}

/** Maximum rows that a merge buffers. */
const rowsInHeads = 50_000
/** Maximum characters of texts buffered per source, except for the last row. */
const lengthInHead = 10_000

/** The next rows of one source, read in growing batches. */
class Head implements Sink {
  readonly source: PointSource
  #rows: PointRow[] = []
  #next = 0
  #length = 0
  readonly #maxSize: number
  #size: number

  constructor(source: PointSource, size: number, maxSize: number) {
    this.source = source
    this.#size = size
    this.#maxSize = maxSize
  }

  get room(): number {
    return this.#length > lengthInHead ? 0 : this.#size - this.#rows.length
  }

  add(row: PointRow): void {
    this.#rows.push(row)
    this.#length += textLengthOf(row)
  }

  get row(): PointRow | undefined {
    return this.#rows[this.#next]
  }

  /** False when it has to be loaded first. */
  advance(): boolean {
    this.#next += 1
    return this.#next < this.#rows.length
  }

  load(budget: number): number {
    if (this.#next > 0) this.#size = Math.min(this.#size * 2, this.#maxSize)
    this.#rows = []
    this.#length = 0
    this.#next = 0
    return this.source.fill(this, budget)
  }
}

/** Merges sources that are each sorted by start and ID. */
export class MergeSource implements PointSource {
  readonly #sign: 1 | -1
  /** A binary heap. */
  readonly #heap: Head[] = []
  #toLoad: Head[]

  constructor(sources: readonly PointSource[], isDescending: boolean, limit: number) {
    this.#sign = isDescending ? -1 : 1
    const maxSize = Math.max(8, Math.min(256, Math.floor(rowsInHeads / Math.max(1, sources.length))))
    const size = Math.max(4, Math.min(maxSize, Math.ceil((2 * limit) / Math.max(1, sources.length))))
    this.#toLoad = sources.map(source => new Head(source, size, maxSize))
  }

  get isDone(): boolean {
    return this.#heap.length === 0 && this.#toLoad.length === 0
  }

  fill(sink: Sink, budget: number): number {
    let spent = 0
    while (sink.room > 0 && !this.isDone) {
      while (this.#toLoad.length > 0) {
        if (spent >= budget) return spent
        spent += this.#load(this.#toLoad.pop() as Head, budget - spent)
      }
      const first = this.#heap[0]
      if (first === undefined) return spent
      sink.add(first.row as PointRow)
      spent += 1
      if (!first.advance()) this.#toLoad.push(this.#takeFirst())
      else this.#sink(0)
    }
    return spent
  }

  #load(head: Head, budget: number): number {
    const spent = seekCost + head.load(budget)
    if (head.row !== undefined) this.#push(head)
    else if (!head.source.isDone) this.#toLoad.push(head)
    return spent
  }

  #isBefore(one: Head, other: Head): boolean {
    const [a, b] = [one.row as PointRow, other.row as PointRow]
    return this.#sign * (startOf(a) - startOf(b) || idOf(a) - idOf(b)) < 0
  }

  #push(head: Head): void {
    const heap = this.#heap
    let at = heap.push(head) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!this.#isBefore(head, heap[above] as Head)) break
      heap[at] = heap[above] as Head
      at = above
    }
    heap[at] = head
  }

  #takeFirst(): Head {
    const first = this.#heap[0] as Head
    const last = this.#heap.pop() as Head
    if (this.#heap.length > 0) {
      this.#heap[0] = last
      this.#sink(0)
    }
    return first
  }

  #sink(from: number): void {
    const heap = this.#heap
    const head = heap[from] as Head
    let at = from
    for (;;) {
      let below = 2 * at + 1
      if (below >= heap.length) break
      if (below + 1 < heap.length && this.#isBefore(heap[below + 1] as Head, heap[below] as Head)) below += 1
      if (!this.#isBefore(heap[below] as Head, head)) break
      heap[at] = heap[below] as Head
      at = below
    }
    heap[at] = head
  }
}
