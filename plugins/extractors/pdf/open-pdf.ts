import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const mostImagePixels = 64_000_000

/** Opens a document. Throws a sentence for the person who uploaded it when that is impossible. */
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
    maxImageSize: mostImagePixels,
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

/** The text without the control characters that no database or page wants; line breaks and tabs stay. */
export const withoutControls = (text: string): string => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '').toWellFormed()
