import type { PDFDocumentProxy } from 'pdfjs-dist'
import type { PdfPages } from './pdf-pages.ts'

/** Maximum number of matches; more are not counted. */
const maxFound = 10_000

interface PageText {
  readonly text: string
  /** The offset of each text item. */
  readonly starts: readonly number[]
}

interface Found {
  readonly page: number
  readonly start: number
  readonly end: number
}

interface SearchHooks {
  readonly signal: AbortSignal
  /** Reports the number of matches so far, and the current one, from 1. */
  readonly say: (found: number, at: number, isDone: boolean) => void
}

/** Lower case if of the same length, so that positions stay valid. */
const folded = (text: string): string => {
  const lower = text.toLowerCase()
  return lower.length === text.length ? lower : text
}

/** Searches all pages in order, and highlights matches in rendered ones. */
export class PdfSearch {
  #document: PDFDocumentProxy
  #pages: PdfPages
  #count: number
  #hooks: SearchHooks
  #texts = new Map<number, PageText>()
  #found: Found[] = []
  #at = -1
  #run = 0

  constructor(opened: PDFDocumentProxy, pages: PdfPages, count: number, hooks: SearchHooks) {
    this.#document = opened
    this.#pages = pages
    this.#count = count
    this.#hooks = hooks
    pages.onLayer(page => this.#found.some(each => each.page === page) && this.#mark())
    hooks.signal.addEventListener('abort', () => this.#unmark())
  }

  find(wanted: string): void {
    this.#run++
    this.#found = []
    this.#at = -1
    this.#mark()
    this.#hooks.say(0, 0, false)
    const text = folded(wanted.trim().replaceAll(/\s+/g, ' '))
    if (text !== '') void this.#findFrom(text, this.#run)
  }

  step(by: number): void {
    if (this.#found.length === 0) return
    this.#at = (this.#at + by + this.#found.length) % this.#found.length
    this.#show()
  }

  async #findFrom(wanted: string, run: number): Promise<void> {
    const first = this.#pages.current
    // From the current page to the end, then from the beginning.
    for (let turn = 0; turn < this.#count; turn++) {
      const page = ((first - 1 + turn) % this.#count) + 1
      const { text } = await this.#textOf(page).catch(() => ({ text: '' }))
      if (run !== this.#run || this.#hooks.signal.aborted) return
      const isFirst = this.#found.length === 0
      for (let at = text.indexOf(wanted); at !== -1 && this.#found.length < maxFound; at = text.indexOf(wanted, at + wanted.length))
        this.#found.push({ page, start: at, end: at + wanted.length })
      if (isFirst && this.#found.length > 0) {
        this.#at = 0
        this.#show()
      }
    }
    this.#mark()
    this.#hooks.say(this.#found.length, this.#at + 1, true)
  }

  async #textOf(page: number): Promise<PageText> {
    const known = this.#texts.get(page)
    if (known) return known
    const { items } = await (await this.#document.getPage(page)).getTextContent()
    const starts: number[] = []
    let text = ''
    for (const item of items) {
      if (!('str' in item)) continue
      starts.push(text.length)
      text += item.str.replaceAll(/\s/g, ' ')
      if (item.hasEOL && !text.endsWith(' ')) text += ' '
    }
    const pageText = { text: folded(text), starts }
    this.#texts.set(page, pageText)
    return pageText
  }

  #show(): void {
    const { page } = this.#found[this.#at] as Found
    if (page !== this.#pages.current || !this.#pages.textOf(page)) this.#pages.goTo(page)
    this.#mark()
    this.#hooks.say(this.#found.length, this.#at + 1, false)
  }

  #unmark(): void {
    CSS.highlights?.delete('pdf-found')
    CSS.highlights?.delete('pdf-current')
  }

  #mark(): void {
    // Browsers without the CSS Custom Highlight API still go to the page.
    if (!('highlights' in CSS)) return
    this.#unmark()
    const ranges = this.#found.map(each => this.#rangeOf(each))
    const current = ranges[this.#at]
    const others = ranges.filter((range, at) => range && at !== this.#at) as Range[]
    if (others.length > 0) CSS.highlights.set('pdf-found', new Highlight(...others))
    if (!current) return
    CSS.highlights.set('pdf-current', new Highlight(current))
    const target = current.startContainer.parentElement
    if (target) this.#pages.reveal(target)
  }

  /** The range in the page's text layer; undefined while it is not rendered. */
  #rangeOf({ page, start, end }: Found): Range | undefined {
    const elements = this.#pages.textOf(page)
    const starts = this.#texts.get(page)?.starts
    if (!elements || !starts) return undefined
    const pointOf = (position: number): readonly [Node, number] | undefined => {
      const item = starts.findLastIndex(each => each <= position)
      const node = elements[item]?.firstChild
      return node ? [node, Math.min(position - (starts[item] ?? 0), node.textContent?.length ?? 0)] : undefined
    }
    const from = pointOf(start)
    const to = pointOf(end - 1)
    if (!from || !to) return undefined
    const range = new Range()
    range.setStart(...from)
    range.setEnd(to[0], Math.min(to[1] + 1, to[0].textContent?.length ?? 0))
    return range
  }
}
