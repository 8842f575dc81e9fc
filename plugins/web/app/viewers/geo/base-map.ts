import GeoJSON from 'ol/format/GeoJSON'
import VectorLayer from 'ol/layer/Vector'
import VectorSource from 'ol/source/Vector'
import { Fill, Stroke, Style } from 'ol/style'
import { feature } from 'topojson-client'
import fineUrl from 'world-atlas/countries-50m.json?url'
import coarseUrl from 'world-atlas/countries-110m.json?url'
import { colorOf } from '../dom.ts'
import { flatCountries } from './world-countries.ts'

/** Pixels of the map that a metre has where the finer map begins to be worth its size. */
const fineBelow = 20_000

/** Countries of Natural Earth from this server: a coarse map at once, a finer one where it is looked at closely. */
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
