import type { Class, Previewer } from 'pounce/sdk'

type PreviewerOptions = Pick<Previewer, 'summary' | 'mediaTypes'> & { readonly onlyPreviews?: true }

const previewer = (name: string, { summary, mediaTypes, onlyPreviews }: PreviewerOptions): Class<Previewer> =>
  class implements Previewer {
    readonly id = name
    readonly summary = summary
    readonly mediaTypes = mediaTypes
    readonly path = `/previewers/${name.toLowerCase()}`
    readonly main = `${name.toLowerCase()}.js`
    readonly showsFiles = !onlyPreviews
  }

/**
 * The built-in previewers, with the names of those of Clowder 1.x for the same media types: clients select previews by `p_id`. Each has a browser script of the
 * same name.
 */
export const basicPreviewers: readonly Class<Previewer>[] = [
  previewer('Thumbnail', {
    summary: 'Shows an image',
    mediaTypes: ['image/jpeg', 'image/jpg', 'image/png', 'image/webp', 'image/gif', 'image/bmp'],
  }),
  previewer('PDF', { summary: 'Shows a PDF', mediaTypes: ['application/pdf'] }),
  // In a sandboxed frame, and only what an extractor made from Markdown or a table: never HTML as uploaded.
  previewer('HTML', { summary: 'Shows formatted text or a table', mediaTypes: ['text/html'], onlyPreviews: true }),
  previewer('Text', { summary: 'Shows plain text', mediaTypes: ['text/*', 'application/json', 'application/xml'] }),
  // Deep Zoom: too large to be loaded whole, so shown as the tiles that an extractor made.
  previewer('Zoom', { summary: 'Shows a large image in tiles', mediaTypes: ['application/dzi'], onlyPreviews: true }),
  previewer('Video', { summary: 'Plays video', mediaTypes: ['video/mp4', 'video/webm', 'video/ogg'] }),
  previewer('Audio', {
    summary: 'Plays audio',
    mediaTypes: ['audio/mpeg', 'audio/mp4', 'audio/ogg', 'audio/wav', 'audio/x-wav', 'audio/webm', 'audio/flac'],
  }),
]
