import 'ol/ol.css'
import type Feature from 'ol/Feature'
import GeoJSON from 'ol/format/GeoJSON'
import type BaseLayer from 'ol/layer/Base'
import ImageLayer from 'ol/layer/Image'
import VectorLayer from 'ol/layer/Vector'
import OlMap from 'ol/Map'
import { get as projectionOf, transformExtent } from 'ol/proj'
import ImageStatic from 'ol/source/ImageStatic'
import VectorSource from 'ol/source/Vector'
import { Circle, Fill, Stroke, Style } from 'ol/style'
import View from 'ol/View'
import { colorOf, make, makeButton, makeScroller, makeStatus, makeTable, onSchemeChange } from '../dom.ts'
import type { ViewedThing, ViewerHost } from '../host.ts'
import { isTiff, maxPixels, type OpenedTiff, openTiff } from '../lib/tiff.ts'
import { baseMap } from './base-map.ts'
import { type FeaturesFound, featuresOfJson, featuresOfShapes, hasShapes } from './features.ts'
import '../viewers.css'
import './geo.css'

const maxRasterSide = 2048
const maxAttributes = 200
/** Maximum size of JSON and archives, which are read as a whole; pictures are read by range. */
const maxReadBytes = 50_000_000

const isZip = async (host: ViewerHost): Promise<boolean> => {
  const [one, other] = await host.read(0, 2)
  return one === 0x50 && other === 0x4b
}

/** Accepts GeoTIFF, ZIP archives with shapefiles, and JSON. */
export const canShow = async (_thing: ViewedThing, host: ViewerHost): Promise<boolean> => {
  if (await isTiff(host)) {
    const tiff = await openTiff(host).catch(() => undefined)
    tiff?.close()
    return tiff?.pages[0]?.place !== undefined
  }
  if (host.thing.sizeBytes > maxReadBytes) return false
  if (await isZip(host)) return hasShapes(host).catch(() => false)
  return /json/i.test(host.thing.contentType) || /\.(?:geojson|json)$/i.test(host.thing.name)
}

export const mount = async (element: HTMLElement, host: ViewerHost): Promise<() => void> => {
  const stop = new AbortController()
  const close = (): void => {
    stop.abort()
    element.replaceChildren()
  }
  try {
    if (await isTiff(host)) await showRaster(element, host, stop.signal)
    else await showFeatures(element, host, stop.signal)
  } catch (error) {
    close()
    throw error
  }
  return close
}

interface Drawn {
  readonly map: OlMap
  readonly view: HTMLElement
  readonly bar: HTMLElement
  readonly status: HTMLElement
  readonly showAll: () => void
}

/** A map with its controls. While focused, the arrow keys pan, and + and − zoom. */
const drawMap = (element: HTMLElement, host: ViewerHost, signal: AbortSignal, extent: () => readonly number[]): Drawn => {
  const { t } = host
  const stage = make('div', {
    className: 'view-stage geo-map',
    tabIndex: 0,
    attributes: { role: 'application', 'aria-label': t('viewer.geo.map', { name: host.thing.name }) },
  })
  const status = makeStatus()
  const map = new OlMap({ controls: [], view: new View({ center: [0, 0], zoom: 1, maxZoom: 24 }) })
  const zoom = (by: number): void => void map.getView().animate({ zoom: (map.getView().getZoom() ?? 1) + by, duration: 0 })
  const showAll = (): void => {
    const box = extent()
    if (box.length === 4 && box.every(Number.isFinite)) map.getView().fit([...box], { padding: [24, 24, 24, 24], maxZoom: 14 })
  }
  const bar = make(
    'div',
    { className: 'view-bar', attributes: { role: 'group', 'aria-label': t('viewer.controls') } },
    make(
      'span',
      { className: 'group' },
      makeButton(t('viewer.zoomOut'), () => zoom(-1), '−'),
      makeButton(t('viewer.zoomIn'), () => zoom(1), '+'),
      makeButton(t('viewer.all'), showAll),
    ),
  )
  const view = make('div', { className: 'view-box' }, bar, status, stage, make('p', { className: 'help' }, t('viewer.geo.source')))
  element.append(view)
  stage.addEventListener('keydown', ({ key }) => key === '0' && showAll())
  map.setTarget(stage)
  map.addLayer(baseMap(stage))
  onSchemeChange(signal, () => {
    for (const layer of map.getAllLayers()) layer.changed()
  })
  signal.addEventListener('abort', () => {
    map.setTarget(undefined)
    map.dispose()
  })
  return { map, view, bar, status, showAll }
}

const readFeatures = async (host: ViewerHost): Promise<FeaturesFound & { readonly crs?: string | undefined }> => {
  if (host.thing.sizeBytes > maxReadBytes) throw new Error(host.t('viewer.geo.tooLarge'))
  try {
    return (await isZip(host)) ? await featuresOfShapes(host) : await featuresOfJson(host)
  } catch (cause) {
    if (cause instanceof Error && cause.name === 'Error' && !/zip|shape|header|EOCD/i.test(cause.message)) throw cause
    throw new Error(host.t(cause instanceof RangeError && cause.message === 'Too large' ? 'viewer.geo.tooLarge' : 'viewer.geo.damaged'), {
      cause,
    })
  }
}

const showFeatures = async (element: HTMLElement, host: ViewerHost, signal: AbortSignal): Promise<void> => {
  const { t } = host
  const { features: found, total, crs } = await readFeatures(host)
  host.signal.throwIfAborted()
  let read: Feature[]
  try {
    const known = crs === undefined || /CRS84$/.test(crs) ? 'EPSG:4326' : projectionOf(crs)
    if (!known) throw new Error(t('viewer.geo.projection', { name: crs }))
    read = found.flatMap(each => new GeoJSON().readFeatures(each, { dataProjection: known, featureProjection: 'EPSG:3857' }))
  } catch (cause) {
    if (cause instanceof Error && cause.message === t('viewer.geo.projection', { name: crs })) throw cause
    throw new Error(t('viewer.geo.damaged'), { cause })
  }
  const source = new VectorSource({ features: read })
  let chosen = -1
  const layer = new VectorLayer({ source, zIndex: 1, style: one => styleOf(element, one === read[chosen]) })
  const { map, view, bar, status, showAll } = drawMap(element, host, signal, () => source.getExtent() ?? [])
  map.addLayer(layer as BaseLayer)
  showAll()
  const about = make('div')
  const number = make('input', {
    className: 'input geo-number',
    type: 'number',
    min: '1',
    max: String(read.length),
    attributes: { 'aria-label': t('viewer.geo.feature') },
    on: { change: () => choose((Number.parseInt(number.value, 10) || 1) - 1) },
  })
  const choose = (at: number, move = true): void => {
    if (read.length === 0) return
    chosen = Math.min(read.length - 1, Math.max(0, at))
    number.value = String(chosen + 1)
    layer.changed()
    const one = read[chosen] as Feature
    about.replaceChildren(attributesOf(one, chosen, host))
    status.textContent = t('viewer.geo.chosen', {
      number: chosen + 1,
      all: read.length,
      kind: one.getGeometry()?.getType() ?? t('viewer.geo.noPlace'),
    })
    host.state.set(String(chosen + 1))
    const box = one.getGeometry()?.getExtent()
    if (move && box?.every(Number.isFinite))
      map.getView().setCenter([((box[0] ?? 0) + (box[2] ?? 0)) / 2, ((box[1] ?? 0) + (box[3] ?? 0)) / 2])
  }
  bar.append(
    make(
      'span',
      { className: 'group' },
      makeButton(t('viewer.geo.previous'), () => choose(chosen - 1), '‹'),
      number,
      make('span', {}, t('viewer.geo.ofFeatures', { number: new Intl.NumberFormat(host.language).format(read.length) })),
      makeButton(t('viewer.geo.next'), () => choose(chosen + 1), '›'),
    ),
  )
  if (total > found.length) bar.after(make('p', { className: 'help' }, t('viewer.geo.cut', { shown: found.length, all: total })))
  view.append(about)
  map.on('singleclick', ({ pixel }) => {
    const hit = map.forEachFeatureAtPixel(pixel, one => one, { layerFilter: each => each === (layer as BaseLayer), hitTolerance: 6 })
    if (hit) choose(read.indexOf(hit as Feature), false)
  })
  const first = Number.parseInt(host.state.get() ?? '', 10)
  if (first >= 1) choose(first - 1)
  else if (read.length === 0) status.textContent = t('viewer.geo.none')
}

const styleOf = (element: HTMLElement, isChosen: boolean): Style => {
  const color = colorOf(isChosen ? 'sandarac' : 'verdigris', element)
  const fill = new Fill({ color: color.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.25)') })
  const stroke = new Stroke({ color, width: isChosen ? 4 : 2 })
  return new Style({ fill, stroke, image: new Circle({ radius: isChosen ? 9 : 6, fill, stroke }), zIndex: isChosen ? 1 : 0 })
}

const textOf = (value: unknown): string => {
  const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '')
  return text.length > 1000 ? `${text.slice(0, 1000)} …` : text
}

const attributesOf = (feature: Feature, at: number, { t }: ViewerHost): HTMLElement => {
  const rows = Object.entries(feature.getProperties())
    .filter(([name]) => name !== feature.getGeometryName())
    .slice(0, maxAttributes)
    .map(([name, value]) => [name, textOf(value)] as const)
  const caption = t('viewer.geo.attributes', { number: at + 1 })
  return rows.length === 0
    ? make('p', { className: 'help' }, t('viewer.geo.noAttributes'))
    : makeScroller(caption, makeTable(caption, [], rows, true))
}

const showRaster = async (element: HTMLElement, host: ViewerHost, signal: AbortSignal): Promise<void> => {
  const { t } = host
  let tiff: OpenedTiff
  try {
    tiff = await openTiff(host)
  } catch (cause) {
    throw new Error(t('viewer.geo.damaged'), { cause })
  }
  signal.addEventListener('abort', tiff.close)
  const [page] = tiff.pages
  if (!page?.place) throw new Error(t('viewer.geo.noPlaceInPicture'))
  const { width, height, bands, type, hasOverviews, place } = page
  if (!hasOverviews && width * height > maxPixels) throw new Error(t('viewer.tooManyPixels', { width, height }))
  const projection = projectionOf(`EPSG:${place.epsg}`) ?? (place.isGeographic ? projectionOf('EPSG:4326') : undefined)
  if (!projection) throw new Error(t('viewer.geo.projection', { name: `EPSG:${place.epsg}` }))
  const share = Math.min(1, maxRasterSide / Math.max(width, height))
  const size = { width: Math.max(1, Math.round(width * share)), height: Math.max(1, Math.round(height * share)) }
  let pixels: ImageData
  try {
    pixels = await tiff.read(0, { window: [0, 0, width, height], ...size })
  } catch (cause) {
    throw new Error(t('viewer.geo.damaged'), { cause })
  }
  host.signal.throwIfAborted()
  const canvas = make('canvas', size)
  canvas.getContext('2d')?.putImageData(pixels, 0, 0)
  const blob = await new Promise<Blob | null>(resolve => canvas.toBlob(resolve))
  const url = URL.createObjectURL(blob ?? new Blob())
  signal.addEventListener('abort', () => URL.revokeObjectURL(url))
  const box = [...place.box]
  // Web Mercator is limited to 85 degrees of latitude.
  const inside = place.isGeographic ? [box[0] ?? -180, Math.max(-85, box[1] ?? -85), box[2] ?? 180, Math.min(85, box[3] ?? 85)] : box
  const { map, status, showAll } = drawMap(element, host, signal, () => transformExtent(inside, projection, 'EPSG:3857'))
  map.addLayer(
    new ImageLayer({ source: new ImageStatic({ url, projection, imageExtent: box, interpolate: false }), opacity: 0.85, zIndex: 1 }),
  )
  showAll()
  status.textContent = t('viewer.geo.raster', { width, height, bands, type, projection: `EPSG:${place.epsg}` })
}
