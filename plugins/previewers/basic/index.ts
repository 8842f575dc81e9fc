import { definePlugin, Previewers, provide } from 'pounce/sdk'
import { basicPreviewers } from './basic-previewers.ts'

export const plugin = definePlugin({
  id: 'previewers.basic',
  summary: 'Shows pictures, texts, tables and PDFs in the browser, and plays films and sound.',
  provides: basicPreviewers.map(previewer => provide(Previewers, previewer)),
})
