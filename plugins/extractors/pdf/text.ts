import type { ExtractorInput } from 'pounce/sdk'
import { type PdfDocument, withoutControls } from './open-pdf.ts'

const mostCharacters = 1_000_000
const mostMs = 90_000

/** The text of a document, its pages divided by blank lines. */
export interface PdfText {
  readonly text: string
  /** Pages whose text could not be read. */
  readonly brokenPages: number
  /** False when the document has more text than is taken, or reading it took too long. */
  readonly isComplete: boolean
}

/** Reads up to a million characters of text, page by page. A page that cannot be read is counted and left out. */
export async function readText(document: PdfDocument, input: ExtractorInput): Promise<PdfText> {
  const deadline = performance.now() + mostMs
  const pages: string[] = []
  let characters = 0
  let brokenPages = 0
  for (let number = 1; number <= document.numPages; number++) {
    input.signal.throwIfAborted()
    if (characters >= mostCharacters || performance.now() > deadline) return { text: pages.join('\n\n'), brokenPages, isComplete: false }
    if (number % 50 === 0) input.progress(`reading page ${number} of ${document.numPages}`)
    const text = await pageText(document, number, mostCharacters - characters)
    if (text === undefined) brokenPages++
    else if (text) pages.push(text)
    characters += text?.length ?? 0
  }
  return { text: pages.join('\n\n'), brokenPages, isComplete: characters < mostCharacters }
}

async function pageText(document: PdfDocument, number: number, most: number): Promise<string | undefined> {
  try {
    const page = await document.getPage(number)
    const reader = page.streamTextContent().getReader()
    let text = ''
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      for (const item of chunk.value.items) text += item.str + (item.hasEOL ? '\n' : '')
      if (text.length < most) continue
      await reader.cancel(new Error('enough text was read'))
      break
    }
    page.cleanup()
    return withoutControls(text).trim().slice(0, most)
  } catch {
    return undefined
  }
}
