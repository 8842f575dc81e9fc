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

/** Pictures too large to be loaded whole, in the tiles that an extractor made of them (Deep Zoom). */
export class ZoomPreviewer implements Previewer {
  readonly id = 'Zoom'
  readonly summary = 'Shows a large picture piece by piece'
  readonly mediaTypes = ['application/dzi']
  readonly path = '/previewers/zoom'
  readonly main = 'zoom.js'
  readonly showsFiles = false
}

/** Films that browsers play. */
export class VideoPreviewer implements Previewer {
  readonly id = 'Video'
  readonly summary = 'Plays a film'
  readonly mediaTypes = ['video/mp4', 'video/webm', 'video/ogg']
  readonly path = '/previewers/video'
  readonly main = 'video.js'
  readonly showsFiles = true
}

/** Sound that browsers play. */
export class AudioPreviewer implements Previewer {
  readonly id = 'Audio'
  readonly summary = 'Plays a recording'
  readonly mediaTypes = ['audio/mpeg', 'audio/mp4', 'audio/ogg', 'audio/wav', 'audio/x-wav', 'audio/webm', 'audio/flac']
  readonly path = '/previewers/audio'
  readonly main = 'audio.js'
  readonly showsFiles = true
}
