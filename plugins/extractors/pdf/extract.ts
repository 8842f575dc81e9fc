import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import type { DerivedFile, ExtractorInput, ExtractorOutput } from 'pounce/sdk'
import { type DrawnPage, drawFirstPage, openPdf, type PdfDocument, withoutControls } from './open-pdf.ts'

const maxCharacters = 1_000_000

const maxMs = 90_000

/** The text of a document, its pages divided by blank lines. */
interface PdfText {
  readonly text: string
  /** Pages whose text could not be read. */
  readonly brokenPages: number
  /** False when the document exceeds the text limit, or reading it took too long. */
  readonly isComplete: boolean
}

/** Reads up to a million characters of text, page by page. An unreadable page is counted and skipped. */
async function readText(document: PdfDocument, input: ExtractorInput): Promise<PdfText> {
  const deadline = performance.now() + maxMs
  const pages: string[] = []
  let characters = 0
  let brokenPages = 0
  for (let number = 1; number <= document.numPages; number++) {
    input.signal.throwIfAborted()
    if (characters >= maxCharacters || performance.now() > deadline) return { text: pages.join('\n\n'), brokenPages, isComplete: false }
    if (number % 50 === 0) input.progress(`reading page ${number} of ${document.numPages}`)
    const text = await pageText(document, number, maxCharacters - characters)
    if (text === undefined) brokenPages++
    else if (text) pages.push(text)
    characters += text?.length ?? 0
  }
  return { text: pages.join('\n\n'), brokenPages, isComplete: characters < maxCharacters }
}

async function pageText(document: PdfDocument, number: number, maxLength: number): Promise<string | undefined> {
  try {
    const page = await document.getPage(number)
    const reader = page.streamTextContent().getReader()
    let text = ''
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      for (const item of chunk.value.items) text += item.str + (item.hasEOL ? '\n' : '')
      if (text.length < maxLength) continue
      await reader.cancel(new Error('enough text was read'))
      break
    }
    page.cleanup()
    return withoutControls(text).trim().slice(0, maxLength)
  } catch {
    return undefined
  }
}

const maxFileBytes = 256 << 20

const maxMetadataTextBytes = 100_000

/**
 * Reads a PDF's text and information and renders its first page. Throws when the file is not a PDF, is damaged beyond repair or needs a
 * password; when the first page cannot be rendered, the text is still returned.
 */
export async function extract(input: ExtractorInput): Promise<ExtractorOutput> {
  if (input.sizeBytes === 0) throw new Error('The file is empty.')
  if (input.sizeBytes > maxFileBytes) return { skipped: `PDFs above ${maxFileBytes >> 20} MiB are not read.` }
  const damage: unknown[] = []
  const collect = (reason: unknown) => damage.push(reason)
  // The library has unhandled rejections where objects of a damaged file depend on each other; they would end the process.
  process.on('unhandledRejection', collect)
  try {
    const output = await readAndClose(input)
    // Rejections are reported as unhandled only after the turn of the event loop in which they happen.
    await turn()
    if (damage.length === 0) return output
    return { ...output, metadata: { ...output.metadata, damage: `Parts of the file are damaged: ${String(damage[0]).slice(0, 300)}` } }
  } finally {
    process.off('unhandledRejection', collect)
  }
}

async function readAndClose(input: ExtractorInput): Promise<ExtractorOutput> {
  const document = await openPdf(input.path)
  try {
    return await describe(document, input)
  } finally {
    await document.loadingTask.destroy()
  }
}

async function describe(document: PdfDocument, input: ExtractorInput): Promise<ExtractorOutput> {
  const information = await readInformation(document)
  const { text, brokenPages, isComplete } = await readText(document, input)
  input.progress('drawing the first page')
  const drawn = await drawFirstPage(document, input.outputFolder)
  const metadata = {
    pages: document.numPages,
    ...information,
    ...('problem' in drawn ? { previewProblem: drawn.problem } : drawn.size),
    textCharacters: text.length,
    ...(text && { text: firstBytes(text, maxMetadataTextBytes) }),
    ...(!isComplete && { textIsComplete: false }),
    ...(brokenPages > 0 && { brokenPages }),
  }
  return { metadata, ...(await filesOf(drawn, text, input.outputFolder)) }
}

async function filesOf(drawn: DrawnPage | { readonly problem: string }, text: string, folder: string): Promise<ExtractorOutput> {
  const previews: DerivedFile[] = 'problem' in drawn ? [] : [drawn.preview]
  if (text) {
    await writeFile(join(folder, 'text.txt'), text)
    previews.push({ path: 'text.txt', contentType: 'text/plain', title: 'Text' })
  }
  return { previews, ...('thumbnail' in drawn && { thumbnail: drawn.thumbnail }) }
}

const informationKeys = {
  Title: 'title',
  Author: 'author',
  Subject: 'subject',
  Keywords: 'keywords',
  Creator: 'creator',
  Producer: 'producer',
}

async function readInformation(document: PdfDocument): Promise<Record<string, unknown>> {
  const { info } = await document.getMetadata()
  const found: Record<string, unknown> = {}
  const given = new Map(Object.entries(info))
  for (const [key, name] of Object.entries(informationKeys)) {
    const value = given.get(key)
    const text = typeof value === 'string' ? withoutControls(value).replace(/\s+/g, ' ').trim().slice(0, 1000) : ''
    if (text) found[name] = text
  }
  const created = isoDate(given.get('CreationDate'))
  const modified = isoDate(given.get('ModDate'))
  const pdfVersion = given.get('PDFFormatVersion')
  return { ...found, ...(created && { created }), ...(modified && { modified }), ...(typeof pdfVersion === 'string' && { pdfVersion }) }
}

/** `D:20260314092653+01'00'` as ISO 8601. PDF lets everything after the year be absent; a date without a zone is taken as UTC. */
function isoDate(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const parts = /^D?:?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([+-])(\d\d)'?(\d\d)?|Z)?/.exec(value)
  if (!parts) return undefined
  const [, year, month = '01', day = '01', hour = '00', minute = '00', second = '00', sign, zoneHour = '00', zoneMinute = '00'] = parts
  const zone = sign ? `${sign}${zoneHour}:${zoneMinute}` : 'Z'
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`
  return Number.isNaN(Date.parse(text)) ? undefined : text
}

/** The longest prefix of a text that fits, without splitting a character. */
const firstBytes = (text: string, bytes: number): string => new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true })
