import type { Previewer } from 'pounce/sdk'

/** Pictures that every browser draws. */
export class ImagePreviewer implements Previewer {
  readonly id = 'Image'
  readonly summary = 'Shows a picture'
  readonly mediaTypes = ['image/jpeg', 'image/png', 'image/webp', 'image/gif']
  readonly path = '/previewers/image'
  readonly main = 'image.js'
  readonly showsFiles = true
}

/** PDFs, in the browser's own viewer. */
export class PdfPreviewer implements Previewer {
  readonly id = 'PDF'
  readonly summary = 'Shows a PDF'
  readonly mediaTypes = ['application/pdf']
  readonly path = '/previewers/pdf'
  readonly main = 'pdf.js'
  readonly showsFiles = true
}

/** HTML that an extractor made from Markdown or a table, in a sandboxed frame; never a file as it was uploaded. */
export class HtmlPreviewer implements Previewer {
  readonly id = 'HTML'
  readonly summary = 'Shows a formatted text or table'
  readonly mediaTypes = ['text/html']
  readonly path = '/previewers/html'
  readonly main = 'html.js'
  readonly showsFiles = false
}

/** Plain text. */
export class TextPreviewer implements Previewer {
  readonly id = 'Text'
  readonly summary = 'Shows a text'
  readonly mediaTypes = ['text/*', 'application/json', 'application/xml']
  readonly path = '/previewers/text'
  readonly main = 'text.js'
  readonly showsFiles = true
}
