/** Metadata and content of a small document. Text is limited to Latin-1. */
export interface PdfContent {
  readonly title: string
  readonly author: string
  /** Lines of each page, from the top. */
  readonly pages: readonly (readonly string[])[]
  /** Links on the first page: an address, or the number of a page. */
  readonly links?: readonly (string | number)[]
  /** Additional trailer entries, for documents that claim to be encrypted. */
  readonly trailer?: string
}

/** A PDF 1.4 on A4 in Helvetica with a correct cross-reference table. The output is deterministic. */
export function pdf(content: PdfContent): Buffer {
  const pageIds = content.pages.map((_lines, at) => 5 + at * 2)
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${pageIds.map(id => `${id} 0 R`).join(' ')}] /Count ${pageIds.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    `<< /Title (${escaped(content.title)}) /Author (${escaped(content.author)}) /Producer (pounce test data) /CreationDate (D:20260314092653+01'00') >>`,
    ...content.pages.flatMap((lines, at) => {
      const stream = pageStream(lines)
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${6 + at * 2} 0 R${at === 0 ? annotations(content, pageIds) : ''} >>`,
        `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
      ]
    }),
  ]
  let text = '%PDF-1.4\n%\xe2\xe3\xcf\xd3\n'
  const offsets = objects.map((object, at) => {
    const offset = text.length
    text += `${at + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const xref = text.length
  const rows = offsets.map(offset => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`
  text += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info 4 0 R ${content.trailer ?? ''} >>\nstartxref\n${xref}\n%%EOF\n`
  return Buffer.from(text, 'latin1')
}

const annotations = ({ links = [] }: PdfContent, pageIds: readonly number[]): string => {
  const all = links.map((link, at) => {
    const act = typeof link === 'string' ? `/A << /S /URI /URI (${escaped(link)}) >>` : `/Dest [${pageIds[link - 1]} 0 R /Fit]`
    return `<< /Type /Annot /Subtype /Link /Rect [56 ${600 - 40 * at} 256 ${620 - 40 * at}] ${act} >>`
  })
  return all.length === 0 ? '' : ` /Annots [${all.join(' ')}]`
}

const escaped = (text: string): string => text.replace(/[\\()]/g, '\\$&')

function pageStream(lines: readonly string[]): string {
  const [heading = '', ...body] = lines
  const shown = body.map(line => `(${escaped(line)}) Tj T*`).join('\n')
  return `0.85 0.92 0.87 rg 0 780 595 62 re f\n0 g BT /F1 20 Tf 56 800 Td (${escaped(heading)}) Tj ET\nBT /F1 11 Tf 16 TL 56 744 Td\n${shown}\nET`
}
