import { getDocument, PDFDataRangeTransport, type PDFDocumentProxy, PDFWorker, TextLayer } from 'pdfjs-dist'
import { make, makeButton, makeChoice, makeStatus } from '../dom.ts'
import type { ViewerHost } from '../host.ts'
import { PdfAssets } from './pdf-assets.ts'
import { PdfPages } from './pdf-pages.ts'
import type { PdfSearch } from './pdf-search.ts'
import '../viewers.css'
import './pdf.css'

/** Maximum number of pages. Longer documents are truncated, with a note. */
const maxPages = 5000
/** pdf.js omits larger images in documents. */
const maxImagePixels = 50_000_000

/** Reads only the ranges requested by pdf.js. */
class HostRanges extends PDFDataRangeTransport {
  #host: ViewerHost
  #failed: (error: unknown) => void

  constructor(host: ViewerHost, failed: (error: unknown) => void) {
    super(host.thing.sizeBytes, null)
    this.#host = host
    this.#failed = failed
  }

  override requestDataRange(begin: number, end: number): void {
    this.#host.read(begin, end).then(bytes => this.onDataRange(begin, bytes), this.#failed)
  }
}

const openDocument = async (host: ViewerHost, worker: PDFWorker): Promise<PDFDocumentProxy> => {
  let unread: (error: unknown) => void = () => undefined
  const failed = new Promise<never>((_, reject) => {
    unread = reject
  })
  failed.catch(() => undefined)
  const task = getDocument({
    range: new HostRanges(host, error => unread(error)),
    worker,
    disableAutoFetch: true,
    disableStream: true,
    maxImageSize: maxImagePixels,
    canvasMaxAreaInBytes: 4 * maxImagePixels,
    BinaryDataFactory: PdfAssets,
    useWorkerFetch: false,
    cMapUrl: 'cmaps/',
    standardFontDataUrl: 'fonts/',
    wasmUrl: 'wasm/',
    verbosity: 0,
  })
  host.signal.addEventListener('abort', () => void task.destroy().catch(() => undefined))
  try {
    return await Promise.race([task.promise, failed])
  } catch (cause) {
    await task.destroy().catch(() => undefined)
    const { name } = cause as Error
    if (name === 'PasswordException') throw new Error(host.t('viewer.pdf.encrypted'), { cause })
    if (/PDF|Format|Unexpected|Unknown/.test(name)) throw new Error(host.t('viewer.pdf.damaged'), { cause })
    throw cause
  }
}

const zooms = ['width', '0.5', '0.75', '1', '1.25', '1.5', '2', '3'] as const

/** Parses "3" or "3@1.5": the page, and the zoom unless it fits the width. */
const stateOf = (text: string | undefined): { readonly page: number; readonly zoom: string } => {
  const [, page = '1', zoom = 'width'] = /^(\d{1,6})(?:@(\d(?:\.\d{1,3})?))?$/.exec(text ?? '') ?? []
  return { page: Number(page), zoom }
}

export const mount = async (element: HTMLElement, host: ViewerHost): Promise<() => void> => {
  const port = new Worker(new URL('./pdf-worker.ts', import.meta.url), { type: 'module', name: 'pdf' })
  const worker = PDFWorker.create({ port })
  const stop = new AbortController()
  const close = (): void => {
    stop.abort()
    // Removes the canvas in the page that pdf.js uses to measure text.
    TextLayer.cleanup()
    worker.destroy()
    port.terminate()
    element.replaceChildren()
  }
  try {
    const opened = await openDocument(host, worker)
    host.signal.throwIfAborted()
    await draw(element, host, opened, stop.signal)
  } catch (error) {
    close()
    throw error
  }
  return close
}

const draw = async (element: HTMLElement, host: ViewerHost, opened: PDFDocumentProxy, signal: AbortSignal): Promise<void> => {
  const { t } = host
  const shown = Math.min(opened.numPages, maxPages)
  const first = stateOf(host.state.get())
  let { zoom } = first
  const status = makeStatus()
  const number = make('input', {
    className: 'input pdf-number',
    type: 'text',
    inputMode: 'numeric',
    value: String(first.page),
    attributes: { 'aria-label': t('viewer.pdf.page') },
    on: { change: () => pages.goTo(Number.parseInt(number.value, 10) || pages.current) },
  })
  const remember = (): void => {
    const isDefault = pages.current === 1 && zoom === 'width'
    host.state.set(isDefault ? undefined : `${pages.current}${zoom === 'width' ? '' : `@${zoom}`}`)
  }
  const pages = new PdfPages(opened, shown, {
    label: host.thing.name,
    pageLabel: page => t('viewer.pdf.pageOf', { page, pages: opened.numPages }),
    failed: t('viewer.pdf.pageFailed'),
    onPage: page => {
      if (document.activeElement !== number) number.value = String(page)
      else if (Number(number.value) !== page) number.value = String(page)
      remember()
    },
  })
  const setZoom = (value: string): void => {
    zoom = value
    if (![...select.options].some(option => option.value === value))
      select.add(make('option', { value }, t('viewer.percent', { number: Math.round(Number(value) * 100) })))
    select.value = value
    pages.setZoom(value === 'width' ? 'width' : Number(value))
    remember()
  }
  const zoomBy = (factor: number): void => setZoom(String(Math.min(5, Math.max(0.25, Math.round(pages.scale * factor * 100) / 100))))
  const choice = makeChoice(
    t('viewer.zoom'),
    zooms.map(each => [each, each === 'width' ? t('viewer.pdf.width') : t('viewer.percent', { number: Number(each) * 100 })] as const),
    zooms[0],
    setZoom,
  )
  const select = choice.querySelector('select') as HTMLSelectElement
  const say = (found: number, at: number, isDone: boolean): void => {
    status.textContent =
      isDone && found === 0 ? t('viewer.pdf.notFound') : found === 0 ? '' : t('viewer.pdf.found', { count: found, at, number: found })
  }
  let search: Promise<PdfSearch> | undefined
  const searching = (act: (search: PdfSearch) => void): void => {
    search ??= import('./pdf-search.ts').then(({ PdfSearch }) => new PdfSearch(opened, pages, shown, { signal, say }))
    search.then(act, error => host.toast(String(error)))
  }
  const input = make('input', {
    className: 'input',
    type: 'search',
    placeholder: t('viewer.pdf.find'),
    attributes: { 'aria-label': t('viewer.pdf.find') },
    on: {
      input: () => searching(each => each.find(input.value)),
      keydown: event => {
        if ((event as KeyboardEvent).key !== 'Enter') return
        event.preventDefault()
        const by = (event as KeyboardEvent).shiftKey ? -1 : 1
        searching(each => each.step(by))
      },
    },
  })
  const turn = (by: number): void => pages.goTo(pages.current + by)
  const view = make(
    'div',
    { className: 'view-box' },
    make(
      'div',
      { className: 'view-bar', attributes: { role: 'group', 'aria-label': t('viewer.controls') } },
      make(
        'span',
        { className: 'group' },
        makeButton(t('viewer.pdf.previous'), () => turn(-1), '‹'),
        number,
        make('span', {}, t('viewer.pdf.ofPages', { pages: opened.numPages })),
        makeButton(t('viewer.pdf.next'), () => turn(1), '›'),
      ),
      make(
        'span',
        { className: 'group' },
        makeButton(t('viewer.zoomOut'), () => zoomBy(0.8), '−'),
        choice,
        makeButton(t('viewer.zoomIn'), () => zoomBy(1.25), '+'),
      ),
      make(
        'span',
        { className: 'group', attributes: { role: 'search' } },
        input,
        makeButton(t('viewer.pdf.previousFound'), () => searching(each => each.step(-1)), '↑'),
        makeButton(t('viewer.pdf.nextFound'), () => searching(each => each.step(1)), '↓'),
      ),
    ),
    ...(shown < opened.numPages ? [make('p', { className: 'help' }, t('viewer.pdf.cut', { shown, pages: opened.numPages }))] : []),
    status,
    pages.element,
  )
  view.addEventListener('keydown', event => {
    if (event.key === 'f' && (event.ctrlKey || event.metaKey) && !event.altKey) input.select()
    else if (event.ctrlKey || event.metaKey || event.altKey || event.target !== pages.element) return
    else if (event.key === 'ArrowRight') turn(1)
    else if (event.key === 'ArrowLeft') turn(-1)
    else if (event.key === '+') zoomBy(1.25)
    else if (event.key === '-') zoomBy(0.8)
    else if (event.key === '0') setZoom('width')
    else return
    event.preventDefault()
  })
  element.append(view)
  await pages.start(signal, first.page)
  if (zoom !== 'width') setZoom(zoom)
}
