import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DerivedFile } from 'pounce/sdk'

const maxImagePixels = 64_000_000

/** Opens a document. Throws a sentence for the user when that is impossible. */
export async function openPdf(path: string) {
  const { getDocument } = await import('pdfjs-dist/legacy/build/pdf.mjs')
  const library = import.meta.resolve('pdfjs-dist/package.json')
  const folder = (name: string) => fileURLToPath(new URL(`./${name}/`, library))
  const bytes = await readFile(path)
  const task = getDocument({
    data: new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length),
    cMapUrl: folder('cmaps'),
    standardFontDataUrl: folder('standard_fonts'),
    wasmUrl: folder('wasm'),
    iccUrl: folder('iccs'),
    maxImageSize: maxImagePixels,
    useSystemFonts: false,
    enableXfa: false,
    verbosity: 0,
  })
  try {
    return await task.promise
  } catch (error) {
    await task.destroy()
    throw readable(error)
  }
}

export type PdfDocument = Awaited<ReturnType<typeof openPdf>>

function readable(error: unknown): Error {
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  if (name === 'PasswordException') {
    return new Error('The PDF is protected by a password and cannot be read.', { cause: error })
  }
  return new Error(`The file is not a PDF or is damaged: ${message}`, { cause: error })
}

/** The text without control characters, except line breaks and tabs. */
export const withoutControls = (text: string): string => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '').toWellFormed()

const previewPixels = 1024

const thumbnailPixels = 225

const maxMs = 60_000

const millimetresPerPoint = 25.4 / 72

/** The rendered first page. */
export interface DrawnPage {
  readonly size: { readonly pageWidthMm: number; readonly pageHeightMm: number }
  readonly preview: DerivedFile
  readonly thumbnail: DerivedFile
}

/** Renders the first page, or returns why it cannot be rendered. The canvas is an optional dependency with native code. */
export async function drawFirstPage(
  document: PdfDocument,
  folder: string,
  loadCanvas = () => import('@napi-rs/canvas'),
): Promise<DrawnPage | { readonly problem: string }> {
  const canvases = await loadCanvas().catch((error: unknown) => firstLine(error))
  if (typeof canvases === 'string') {
    return {
      problem: `@napi-rs/canvas is not installed, so pages are not drawn. Install it with "npm install @napi-rs/canvas". (${canvases})`,
    }
  }
  try {
    return await draw(document, folder, canvases.createCanvas)
  } catch (error) {
    return { problem: `The first page cannot be drawn: ${firstLine(error)}` }
  }
}

async function draw(
  document: PdfDocument,
  folder: string,
  createCanvas: typeof import('@napi-rs/canvas')['createCanvas'],
): Promise<DrawnPage> {
  const page = await document.getPage(1)
  const { width, height } = page.getViewport({ scale: 1 })
  const longer = Math.max(width, height)
  if (!(longer > 0 && Number.isFinite(longer))) throw new Error('its size is not a number of points')
  const viewport = page.getViewport({ scale: previewPixels / longer })
  const canvas = createCanvas(Math.max(1, Math.round(viewport.width)), Math.max(1, Math.round(viewport.height)))
  const task = page.render({ canvas, viewport, background: 'white' })
  const timer = setTimeout(() => task.cancel(), maxMs)
  await task.promise.finally(() => clearTimeout(timer))
  const shrink = thumbnailPixels / Math.max(canvas.width, canvas.height)
  const small = createCanvas(Math.max(1, Math.round(canvas.width * shrink)), Math.max(1, Math.round(canvas.height * shrink)))
  const context = small.getContext('2d')
  context.imageSmoothingQuality = 'high'
  context.drawImage(canvas, 0, 0, small.width, small.height)
  await writeFile(join(folder, 'page-1.jpg'), await canvas.encode('jpeg', 85))
  await writeFile(join(folder, 'thumbnail.jpg'), await small.encode('jpeg', 85))
  const millimetres = (points: number) => Math.round(points * millimetresPerPoint * 10) / 10
  return {
    size: { pageWidthMm: millimetres(width), pageHeightMm: millimetres(height) },
    preview: { path: 'page-1.jpg', contentType: 'image/jpeg', title: 'First page' },
    thumbnail: { path: 'thumbnail.jpg', contentType: 'image/jpeg' },
  }
}

const firstLine = (error: unknown): string => String(error instanceof Error ? error.message : error).split('\n')[0] ?? ''
