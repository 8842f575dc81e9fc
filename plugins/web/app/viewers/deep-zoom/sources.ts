import OpenSeadragon from 'openseadragon'
import { make } from '../dom.ts'
import type { ViewerHost } from '../host.ts'
import { maxPixels, type OpenedTiff } from '../lib/tiff.ts'
import { headerBytes, pictureSize } from './picture-size.ts'

const tileSize = 512
const maxDescriptionBytes = 100_000
const formats: ReadonlySet<string> = new Set(['jpg', 'jpeg', 'png', 'webp', 'gif'])

/** What OpenSeadragon opens. */
export type Source = Parameters<OpenSeadragon.Viewer['open']>[0]

/** The parts of a page of a TIFF, each decoded when it comes into sight. */
export const tiffSource = (tiff: OpenedTiff, page: number, host: ViewerHost): Source => {
  const { width, height, hasOverviews } = tiff.pages[page] as OpenedTiff['pages'][number]
  if (!hasOverviews && width * height > maxPixels) throw new Error(host.t('viewer.tooManyPixels', { width, height }))
  const source = new OpenSeadragon.TileSource({ width, height, tileSize, tileOverlap: 0, minLevel: 0 } as never)
  const { maxLevel } = source
  return Object.assign(source, {
    getTileUrl: (level: number, x: number, y: number) => `${page}/${level}/${x}/${y}`,
    getTilePostData: (level: number, x: number, y: number) => JSON.stringify({ level, x, y }),
    hasTransparency: () => true,
    downloadTileStart: (job: OpenSeadragon.ImageJob & { readonly postData: string; fail(text: string, request: null): void }) => {
      const { level, x, y } = JSON.parse(job.postData) as { readonly level: number; readonly x: number; readonly y: number }
      const share = 2 ** (maxLevel - level)
      const window = [x, y, x + 1, y + 1].map((each, at) => Math.min(at % 2 === 0 ? width : height, each * tileSize * share))
      const [left = 0, top = 0, right = 0, bottom = 0] = window
      const size = { width: Math.max(1, Math.ceil((right - left) / share)), height: Math.max(1, Math.ceil((bottom - top) / share)) }
      tiff.read(page, { window: [left, top, right, bottom], ...size }).then(
        pixels => {
          const context = make('canvas', size).getContext('2d')
          context?.putImageData(pixels, 0, 0)
          job.finish(context as never, null as never, 'context2d')
        },
        (error: unknown) => job.fail(String(error), null),
      )
    },
    downloadTileAbort: () => undefined,
  }) as unknown as Source
}

/** A picture that the browser decodes; its size is known before. */
export const pictureSource = async (host: ViewerHost): Promise<Source> => {
  const size = pictureSize(await host.read(0, headerBytes))
  if (size && size.width * size.height > maxPixels) throw new Error(host.t('viewer.tooManyPixels', { ...size }))
  return { type: 'image', url: host.url } as unknown as Source
}

/** The tiles that an extractor made: their description is the preview, and they are beside it. */
export const pyramidSource = async (host: ViewerHost): Promise<Source> => {
  const text = new TextDecoder().decode(await host.read(0, maxDescriptionBytes))
  const document = new DOMParser().parseFromString(text, 'application/xml')
  const image = document.querySelector('Image')
  const size = document.querySelector('Size')
  const number = (element: Element | null, name: string): number => Number(element?.getAttribute(name) ?? Number.NaN)
  const [width, height, tile] = [number(size, 'Width'), number(size, 'Height'), number(image, 'TileSize')]
  const format = image?.getAttribute('Format')?.toLowerCase() ?? ''
  if (!(width > 0 && height > 0 && tile > 0 && formats.has(format))) throw new Error(host.t('viewer.deepZoom.damaged'))
  const folder = `${host.url.replace(/[?#].*$/, '').replace(/\/blob$/, '')}_files`
  return {
    width,
    height,
    tileSize: tile,
    tileOverlap: number(image, 'Overlap') || 0,
    getTileUrl: (level: number, x: number, y: number) => `${folder}/${level}/${x}_${y}.${format}`,
  } as unknown as Source
}
