import { type PDFDocumentProxy, type PDFPageProxy, type RenderTask, TextLayer } from 'pdfjs-dist'
import { make } from '../dom.ts'
import { linksOf } from './pdf-links.ts'

/** Larger pages are drawn at a lower resolution. */
const maxCanvasPixels = 16_000_000
/** Maximum number of pages kept rendered. The page out of view for longest loses its canvas. */
const maxDrawn = 8
const pixelsPerPoint = 96 / 72

interface PageBox {
  readonly number: number
  readonly element: HTMLElement
  width: number
  height: number
  page?: PDFPageProxy
  task?: RenderTask
  layer?: TextLayer
  /** The scale at which it is rendered; undefined if it is not. */
  drawnAt?: number
}

interface PagesTexts {
  readonly label: string
  readonly pageLabel: (page: number) => string
  readonly failed: string
  readonly onPage: (page: number) => void
}

/** A vertical list of pages, each rendered when it comes near the viewport. */
export class PdfPages {
  readonly element: HTMLElement
  /** The page at the top of the viewport. */
  current = 1
  scale = 1
  #document: PDFDocumentProxy
  #texts: PagesTexts
  #boxes: PageBox[]
  #drawn: PageBox[] = []
  #zoom: 'width' | number = 'width'
  #onLayer: (page: number) => void = () => undefined

  constructor(opened: PDFDocumentProxy, count: number, texts: PagesTexts) {
    this.#document = opened
    this.#texts = texts
    this.#boxes = Array.from({ length: count }, (_, at) => ({
      number: at + 1,
      element: make('div', {
        className: 'pdf-page',
        attributes: { role: 'group', 'aria-label': texts.pageLabel(at + 1), 'data-page': String(at + 1) },
      }),
      width: 595,
      height: 842,
    }))
    this.element = make(
      'section',
      { className: 'pdf-pages', tabIndex: 0, attributes: { 'aria-label': texts.label } },
      ...this.#boxes.map(box => box.element),
    )
  }

  /** Called when the text of a page can be selected. */
  onLayer(listener: (page: number) => void): void {
    this.#onLayer = listener
  }

  async start(signal: AbortSignal, page: number): Promise<void> {
    const { width, height } = (await this.#document.getPage(1)).getViewport({ scale: 1 })
    for (const box of this.#boxes) Object.assign(box, { width, height })
    this.#layOut()
    const near = new IntersectionObserver(
      entries => {
        for (const { isIntersecting, target } of entries)
          if (isIntersecting) void this.#draw(this.#boxOf(Number((target as HTMLElement).dataset['page'])), signal)
      },
      { root: this.element, rootMargin: '50% 0px' },
    )
    const resized = new ResizeObserver(() => this.#zoom === 'width' && this.#fit())
    this.goTo(page)
    for (const { element } of this.#boxes) near.observe(element)
    resized.observe(this.element)
    this.element.addEventListener('scroll', () => this.#scrolled(), { signal, passive: true })
    signal.addEventListener('abort', () => {
      near.disconnect()
      resized.disconnect()
      for (const box of this.#drawn) this.#forget(box)
    })
  }

  goTo(page: number): void {
    const box = this.#boxOf(Math.min(this.#boxes.length, Math.max(1, page)))
    this.element.scrollTop = box.element.offsetTop - 8
    this.#turned(box.number)
  }

  setZoom(zoom: 'width' | number): void {
    this.#zoom = zoom
    this.#fit()
  }

  /** The text elements of a page, in order; undefined while it is not rendered. */
  textOf(page: number): readonly HTMLElement[] | undefined {
    const { layer, drawnAt } = this.#boxOf(page)
    return drawnAt === undefined ? undefined : layer?.textDivs
  }

  reveal(target: Element): void {
    const box = target.getBoundingClientRect()
    const window = this.element.getBoundingClientRect()
    if (box.top < window.top || box.bottom > window.bottom) this.element.scrollTop += box.top - window.top - window.height / 3
    if (box.left < window.left || box.right > window.right) this.element.scrollLeft += box.left - window.left - window.width / 3
  }

  #boxOf(page: number): PageBox {
    return this.#boxes[page - 1] as PageBox
  }

  #fit(): void {
    const { current } = this
    const { element } = this.#boxOf(current)
    const within = (this.element.scrollTop - element.offsetTop) / Math.max(1, element.offsetHeight)
    const before = this.scale
    this.#layOut()
    if (this.scale === before) return
    this.element.scrollTop = element.offsetTop + within * element.offsetHeight
    const drawn = this.#drawn
    this.#drawn = []
    for (const box of drawn) this.#forget(box)
    // Pages in view are rendered again at the new size; the others when they come into view.
    for (const box of drawn) if (this.#isNear(box)) void this.#draw(box)
  }

  #isNear({ element }: PageBox): boolean {
    const { scrollTop, clientHeight } = this.element
    return element.offsetTop < scrollTop + 1.5 * clientHeight && element.offsetTop + element.offsetHeight > scrollTop - 0.5 * clientHeight
  }

  #layOut(): void {
    const widest = Math.max(...this.#boxes.map(box => box.width))
    const room = this.element.clientWidth - 16
    this.scale = this.#zoom === 'width' ? Math.min(2, Math.max(0.1, room / (widest * pixelsPerPoint))) : this.#zoom
    for (const box of this.#boxes) this.#size(box)
  }

  #size({ element, width, height }: PageBox): void {
    const factor = this.scale * pixelsPerPoint
    element.style.inlineSize = `${Math.floor(width * factor)}px`
    element.style.blockSize = `${Math.floor(height * factor)}px`
    element.style.setProperty('--total-scale-factor', String(factor))
  }

  #scrolled(): void {
    const middle = this.element.scrollTop + this.element.clientHeight / 3
    let low = 0
    let high = this.#boxes.length - 1
    while (low < high) {
      const at = (low + high + 1) >> 1
      if (this.#boxOf(at + 1).element.offsetTop <= middle) low = at
      else high = at - 1
    }
    this.#turned(low + 1)
  }

  #turned(page: number): void {
    if (page === this.current) return
    this.current = page
    this.#texts.onPage(page)
  }

  async #draw(box: PageBox, signal?: AbortSignal): Promise<void> {
    if (box.drawnAt === this.scale || signal?.aborted) return
    box.drawnAt = this.scale
    this.#drawn = [...this.#drawn.filter(each => each !== box), box]
    while (this.#drawn.length > maxDrawn) {
      const furthest = this.#drawn.find(each => !this.#isNear(each))
      if (!furthest) break
      this.#drawn = this.#drawn.filter(each => each !== furthest)
      this.#forget(furthest)
    }
    try {
      await this.#render(box)
    } catch (error) {
      if ((error as Error).name === 'RenderingCancelledException' || box.drawnAt === undefined) return
      box.element.replaceChildren(make('p', { className: 'pdf-failed' }, this.#texts.failed))
    }
  }

  async #render(box: PageBox): Promise<void> {
    const scale = this.scale
    const page = box.page ?? (await this.#document.getPage(box.number))
    box.page = page
    if (box.drawnAt !== scale) return
    const { width, height } = page.getViewport({ scale: 1 })
    if (width !== box.width || height !== box.height) {
      Object.assign(box, { width, height })
      this.#size(box)
    }
    const viewport = page.getViewport({ scale: scale * pixelsPerPoint })
    const sharp = Math.min(devicePixelRatio || 1, Math.sqrt(maxCanvasPixels / Math.max(1, viewport.width * viewport.height)))
    const canvas = make('canvas', {
      width: Math.max(1, Math.floor(viewport.width * sharp)),
      height: Math.max(1, Math.floor(viewport.height * sharp)),
      attributes: { 'aria-hidden': 'true' },
    })
    const text = make('div', { className: 'pdf-text' })
    box.element.replaceChildren(canvas, text)
    const task = page.render({ canvas, viewport, ...(sharp === 1 ? {} : { transform: [sharp, 0, 0, sharp, 0, 0] }) })
    box.task = task
    const layer = new TextLayer({ textContentSource: page.streamTextContent(), container: text, viewport })
    box.layer = layer
    await Promise.all([task.promise, layer.render()])
    if (box.layer !== layer || box.drawnAt !== scale) return
    this.#onLayer(box.number)
    const links = await linksOf(this.#document, page, { pageLabel: this.#texts.pageLabel, goTo: number => this.goTo(number) })
    if (box.layer === layer) box.element.append(...links)
  }

  #forget(box: PageBox): void {
    delete box.drawnAt
    box.task?.cancel()
    box.layer?.cancel()
    delete box.task
    delete box.layer
    const canvas = box.element.querySelector('canvas')
    if (canvas) canvas.width = 0
    box.element.replaceChildren()
    box.page?.cleanup()
  }
}
