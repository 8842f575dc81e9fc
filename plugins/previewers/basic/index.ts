import { definePlugin, Previewers, provide } from 'pounce/sdk'
import {
  AudioPreviewer,
  HtmlPreviewer,
  ImagePreviewer,
  PdfPreviewer,
  TextPreviewer,
  VideoPreviewer,
  ZoomPreviewer,
} from './basic-previewers.ts'

export const plugin = definePlugin({
  id: 'previewers.basic',
  summary: 'Shows pictures, texts, tables and PDFs in the browser, and plays films and sound.',
  provides: [
    provide(Previewers, ImagePreviewer),
    provide(Previewers, PdfPreviewer),
    provide(Previewers, HtmlPreviewer),
    provide(Previewers, TextPreviewer),
    provide(Previewers, ZoomPreviewer),
    provide(Previewers, VideoPreviewer),
    provide(Previewers, AudioPreviewer),
  ],
})
