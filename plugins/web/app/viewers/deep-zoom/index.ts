import OpenSeadragon from 'openseadragon'
import { make, makeButton, makeChoice, makeStatus } from '../dom.ts'
import type { ViewerHost } from '../host.ts'
import { isTiff, type OpenedTiff, openTiff } from '../lib/tiff.ts'
import { pictureSource, pyramidSource, type Source, tiffSource } from './sources.ts'
import '../viewers.css'

export const mount = async (element: HTMLElement, host: ViewerHost): Promise<() => void> => {
  const stop = new AbortController()
  const close = (): void => {
    stop.abort()
    element.replaceChildren()
  }
  try {
    await draw(element, host, stop.signal)
  } catch (error) {
    close()
    throw error
  }
  return close
}

const sourcesOf = async (host: ViewerHost, signal: AbortSignal) => {
  if (/dzi/.test(host.thing.contentType)) {
    const source = await pyramidSource(host)
    return { open: () => source }
  }
  if (!(await isTiff(host))) {
    const source = await pictureSource(host)
    return { open: () => source }
  }
  let tiff: OpenedTiff
  try {
    tiff = await openTiff(host)
  } catch (cause) {
    throw new Error(host.t('viewer.deepZoom.damaged'), { cause })
  }
  signal.addEventListener('abort', tiff.close)
  if (tiff.pages.length === 0) throw new Error(host.t('viewer.deepZoom.damaged'))
  return { open: (page: number) => tiffSource(tiff, page, host), tiff }
}

const draw = async (element: HTMLElement, host: ViewerHost, signal: AbortSignal): Promise<void> => {
  const { t } = host
  const { open, tiff } = await sourcesOf(host, signal)
  const first = Math.min((tiff?.pages.length ?? 1) - 1, Math.max(0, (Number.parseInt(host.state.get() ?? '1', 10) || 1) - 1))
  const source = open(first)
  host.signal.throwIfAborted()
  const stage = make('div', { className: 'view-stage' })
  const status = makeStatus()
  const zoom = (factor: number): void => {
    viewer.viewport.zoomBy(factor)
    viewer.viewport.applyConstraints()
  }
  const bar = make(
    'div',
    { className: 'view-bar', attributes: { role: 'group', 'aria-label': t('viewer.controls') } },
    make(
      'span',
      { className: 'group' },
      makeButton(t('viewer.zoomOut'), () => zoom(1 / 1.5), '−'),
      makeButton(t('viewer.zoomIn'), () => zoom(1.5), '+'),
      makeButton(t('viewer.all'), () => void viewer.viewport.goHome()),
    ),
  )
  const view = make('div', { className: 'view-box' }, bar, status, stage)
  element.append(view)
  const viewer = makeViewer(stage, host, signal)
  if (tiff) {
    const about = (page: number): void => {
      const { width, height, bands, type } = tiff.pages[page] as OpenedTiff['pages'][number]
      status.textContent = t('viewer.deepZoom.about', { width, height, bands, type })
    }
    about(first)
    if (tiff.pages.length > 1)
      bar.append(
        makeChoice(
          t('viewer.deepZoom.page'),
          tiff.pages.map((_, at) => [String(at), t('viewer.deepZoom.pageOf', { page: at + 1, pages: tiff.total })] as const),
          String(first),
          value => {
            const page = Number(value)
            host.state.set(page === 0 ? undefined : String(page + 1))
            try {
              viewer.open(open(page))
              about(page)
            } catch (error) {
              viewer.close()
              status.textContent = (error as Error).message
            }
          },
        ),
      )
    if (tiff.total > tiff.pages.length)
      bar.after(make('p', { className: 'help' }, t('viewer.deepZoom.cut', { shown: tiff.pages.length, all: tiff.total })))
  }
  await opened(viewer, source, host)
}

const opened = (viewer: OpenSeadragon.Viewer, source: Source, host: ViewerHost): Promise<void> =>
  new Promise((resolve, reject) => {
    const fail = (): void => reject(new Error(host.t('viewer.deepZoom.damaged')))
    viewer.addOnceHandler('open-failed', fail)
    viewer.addOnceHandler('tile-load-failed', fail)
    viewer.addOnceHandler('tile-loaded', () => resolve())
    host.signal.addEventListener('abort', () => reject(host.signal.reason))
    viewer.open(source)
  })

/** OpenSeadragon without its own buttons, which are images from another server in another style. */
const makeViewer = (stage: HTMLElement, host: ViewerHost, signal: AbortSignal): OpenSeadragon.Viewer => {
  // OpenSeadragon inserts a style that hides the focus, unless an element has this attribute.
  const mark = make('style', { nonce: host.nonce, attributes: { 'data-openseadragon-mobile-css': '' } })
  document.head.append(mark)
  const viewer = OpenSeadragon({
    element: stage,
    drawer: 'canvas',
    showNavigationControl: false,
    showNavigator: false,
    animationTime: 0.2,
    maxZoomPixelRatio: 8,
    gestureSettingsMouse: { clickToZoom: false, scrollToZoom: true },
    imageSmoothingEnabled: false,
    silenceMultiImageWarnings: true,
  } as OpenSeadragon.Options)
  viewer.canvas.setAttribute('role', 'application')
  viewer.canvas.setAttribute('aria-label', host.t('viewer.deepZoom.picture', { name: host.thing.name }))
  viewer.canvas.tabIndex = 0
  signal.addEventListener('abort', () => {
    viewer.destroy()
    mark.remove()
  })
  return viewer
}
