import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DerivedFile, ExtractorInput, ExtractorOutput } from 'pounce/sdk'
import type { Attributes } from 'sanitize-html'
import { decoded, type Encoding, guessEncoding } from './encoding.ts'
import { TextCounter, type TextCounts } from './text-counter.ts'

/** UTF-16 code units. */
const beginningLength = 64 << 10

/**
 * Counts a text of any size, previews its beginning, and indexes the beginning of prose for search. Bytes that are not text are skipped.
 */
export async function extract(input: ExtractorInput): Promise<ExtractorOutput> {
  const guess = await guessEncoding(input.path)
  if (!guess) return { skipped: `The file is not text as ${input.contentType} says: it contains binary data.` }
  const { encoding, counts, beginning, isGuess } = await readAs(guess.encoding, input)
  const metadata = {
    encoding: encoding === 'windows-1252' ? encoding : encoding.toUpperCase(),
    ...(isGuess && { encodingIsGuess: true }),
    ...(guess.hasByteOrderMark && { hasByteOrderMark: true }),
    ...counts,
  }
  if (beginning.trim() === '') return { metadata }
  const { preview, ...found } = await writePreview(beginning, input)
  return { metadata: { ...metadata, ...found, ...(isProse(input) && { text: beginning }) }, previews: [preview] }
}

interface ReadText {
  readonly encoding: Encoding
  readonly isGuess: boolean
  readonly counts: TextCounts
  readonly beginning: string
}

async function readAs(encoding: Encoding, input: ExtractorInput): Promise<ReadText> {
  const counter = new TextCounter()
  let beginning = ''
  try {
    for await (const piece of decoded(input.path, encoding, input.signal)) {
      counter.add(piece)
      if (beginning.length < beginningLength) beginning += piece.slice(0, beginningLength - beginning.length)
    }
  } catch (error) {
    // A single byte that is not UTF-8 implies a legacy encoding; windows-1252 maps every byte to a character.
    if (!(error instanceof TypeError) || encoding === 'windows-1252') throw error
    return { ...(await readAs('windows-1252', input)), isGuess: true }
  }
  return { encoding, isGuess: false, counts: counter.counts(), beginning: beginning.replaceAll('\0', '').toWellFormed() }
}

async function writePreview(
  text: string,
  input: ExtractorInput,
): Promise<{ preview: DerivedFile; title?: string; previewProblem?: string }> {
  let previewProblem: string | undefined
  if (isMarkdown(input)) {
    try {
      const { html, title } = await markdownPage(text)
      await writeFile(join(input.outputFolder, 'preview.html'), html)
      return { preview: { path: 'preview.html', contentType: 'text/html', title: 'Formatted' }, ...(title && { title }) }
    } catch (error) {
      previewProblem = `Shown unformatted: ${(error instanceof Error ? error.message : String(error)).split('\n')[0]}`
    }
  }
  await writeFile(join(input.outputFolder, 'preview.txt'), text)
  return { preview: { path: 'preview.txt', contentType: 'text/plain', title: 'Text' }, ...(previewProblem && { previewProblem }) }
}

const isMarkdown = ({ contentType, filename }: ExtractorInput): boolean =>
  /^text\/(x-)?markdown\b/.test(contentType) || (contentType.startsWith('text/plain') && /\.(md|markdown)$/i.test(filename))

const proseTypes = /^(text\/plain|(text|application)\/x-(la)?tex)\b/

/** True for prose. Code and data in JSON or XML would fill the index with useless words. */
const isProse = (input: ExtractorInput): boolean => isMarkdown(input) || proseTypes.test(input.contentType)

/** Markdown as a separate page, without active content or external resources. */
interface MarkdownPage {
  readonly html: string
  /** The text of the first heading. */
  readonly title?: string
}

/** Renders Markdown without scripts, styles, images, forms and relative links. Throws on excessive nesting. */
async function markdownPage(markdown: string): Promise<MarkdownPage> {
  const [{ marked }, { default: sanitize }] = await Promise.all([import('marked'), import('sanitize-html')])
  const tokens = marked.lexer(markdown, { gfm: true })
  const body = sanitize(marked.parser(tokens), {
    allowedAttributes: { a: ['href', 'rel', 'title'], td: ['align'], th: ['align'], ol: ['start'] },
    transformTags: { a: (tagName, { href, title }) => ({ tagName, attribs: outward(href, title) }) },
    nestingLimit: 100,
  })
  const heading = tokens.find(token => token.type === 'heading')
  const title = heading && 'text' in heading ? String(heading.text).trim().slice(0, 500) : ''
  return {
    html: `<!doctype html>\n<html><head><meta charset="utf-8"><title>Preview</title></head><body>\n${body}</body></html>\n`,
    ...(title && { title }),
  }
}

/** A relative link would lead to a page of this server, which the author did not intend. */
function outward(href: string | undefined, title: string | undefined): Attributes {
  if (!href || !/^(https?|mailto):/i.test(href)) return {}
  return { href, rel: 'nofollow noopener noreferrer', ...(title && { title }) }
}
