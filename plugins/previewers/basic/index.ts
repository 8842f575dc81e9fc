import { definePlugin, Previewers, provide } from 'pounce/sdk'
import { HtmlPreviewer, ImagePreviewer, PdfPreviewer, TextPreviewer } from './basic-previewers.ts'

export const plugin = definePlugin({
  id: 'previewers.basic',
  summary: 'Shows pictures, texts, tables and PDFs in the browser.',
  provides: [
    provide(Previewers, ImagePreviewer),
    provide(Previewers, PdfPreviewer),
    provide(Previewers, HtmlPreviewer),
    provide(Previewers, TextPreviewer),
  ],
})
