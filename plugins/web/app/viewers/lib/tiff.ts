import type { ViewerHost } from '../host.ts'
import { atWork } from './at-work.ts'
import type { TiffPages, TiffPart } from './tiff-worker.ts'
import { callsThrough } from './worker-calls.ts'

/** Maximum number of pixels of an image without overviews, which must be decoded as a whole. */
export const maxPixels = 64_000_000

export interface OpenedTiff extends TiffPages {
  readonly read: (page: number, part: TiffPart) => Promise<ImageData>
  readonly close: () => void
}

/** Opens a TIFF in a worker, which reads it by range. Rejects if it is not a TIFF. */
export const openTiff = async (host: ViewerHost): Promise<OpenedTiff> => {
  const worker = new Worker(new URL('./tiff-worker.ts', import.meta.url), { type: 'module', name: 'tiff' })
  const close = (): void => worker.terminate()
  host.signal.addEventListener('abort', close)
  const call = callsThrough(worker, { reading: () => atWork(host) })
  const broken = new Promise<never>((_, reject) => worker.addEventListener('error', reject))
  broken.catch(() => undefined)
  try {
    const opened = await Promise.race([call<TiffPages>('open', new URL(host.url, location.href).href), broken])
    const read = async (page: number, part: TiffPart): Promise<ImageData> => {
      const pixels = await call<Uint8Array>('read', page, part)
      return new ImageData(new Uint8ClampedArray(pixels.buffer as ArrayBuffer), part.width, part.height)
    }
    return { ...opened, read, close }
  } catch (error) {
    close()
    throw error
  }
}

/** Whether the first bytes are those of a TIFF or BigTIFF. */
export const isTiff = async (host: ViewerHost): Promise<boolean> => {
  const [one, other, ...rest] = await host.read(0, 4)
  const isLittle = one === 0x49 && other === 0x49
  const version = isLittle ? rest[0] : rest[1]
  return (isLittle || (one === 0x4d && other === 0x4d)) && (version === 42 || version === 43)
}
