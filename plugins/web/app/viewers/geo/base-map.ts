import GeoJSON from 'ol/format/GeoJSON'
import VectorLayer from 'ol/layer/Vector'
import VectorSource from 'ol/source/Vector'
import { Fill, Stroke, Style } from 'ol/style'
import { feature } from 'topojson-client'
import fineUrl from 'world-atlas/countries-50m.json?url'
import coarseUrl from 'world-atlas/countries-110m.json?url'
import { colorOf } from '../dom.ts'
import { flatCountries } from './world-countries.ts'

/** Resolution, in metres per pixel, below which the finer map is loaded. */
const fineBelow = 20_000

/** Countries from Natural Earth, served by this server: a coarse map at first, a finer one when zoomed in. */
export const baseMap = (element: HTMLElement): VectorLayer => {
  const source = new VectorSource({ attributions: 'Natural Earth' })
  const layer = new VectorLayer({ source, style: () => styleOf(element), zIndex: 0 })
  let shown = ''
  const load = async (url: string): Promise<void> => {
    if (shown === url) return
    shown = url
    const response = await fetch(url)
    if (!response.ok) return
    const world = (await response.json()) as { readonly objects: { readonly countries: unknown } }
    const countries = new GeoJSON().readFeatures(flatCountries(feature(world, world.objects.countries)), { featureProjection: 'EPSG:3857' })
    source.clear(true)
    source.addFeatures(countries)
  }
  const quietly = (url: string): void => void load(url).catch(() => undefined)
  quietly(coarseUrl)
  layer.on('prerender', ({ frameState }) => {
    if ((frameState?.viewState.resolution ?? fineBelow) < fineBelow) quietly(fineUrl)
  })
  return layer
}

const styleOf = (element: HTMLElement): Style =>
  new Style({ fill: new Fill({ color: colorOf('vellum', element) }), stroke: new Stroke({ color: colorOf('edge', element), width: 0.5 }) })
